/* SPDX-License-Identifier: MIT */
/* Getting a pool of rings from the collector. System calls are past the C library. */
#ifndef MAGNET_PRELOAD_POOL_H
#define MAGNET_PRELOAD_POOL_H

#include <stdbool.h>
#include <stdint.h>

/* Where there are pools, as MAGNET_RINGS tells, and which have been tried. */
struct pool_offer {
	uint64_t id; /* of the recording: that of the pool must be the same */
	uint32_t pid, first, filters;
	const char *door;
	uint32_t process, outer; /* this one; as those see it who share /proc with it */
	unsigned int tried;
	bool given; /* the last was given to this program, and need not be taken */
};

/* Returns whether it is one. */
bool pool_offer_read(struct pool_offer *o, const char *rings);
/* Returns a descriptor of the next pool there may be, to be closed by the caller; -1: no more. */
int pool_offer_next(struct pool_offer *o);

#endif
