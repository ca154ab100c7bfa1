/* SPDX-License-Identifier: MIT */
/* Getting a pool of rings from the collector. System calls bypass the C library. */
#ifndef MAGNET_PRELOAD_POOL_H
#define MAGNET_PRELOAD_POOL_H

#include <stdbool.h>
#include <stdint.h>

/* The pools on offer, from MAGNET_RINGS, and how many have been tried. */
struct pool_offer {
	uint64_t id;    /* id of the recording, which the pool must repeat */
	uint64_t start; /* when the collector was started, in ticks since boot */
	uint32_t pid, first, filters;
	const char *door;
	/*
	 * id of this process in its own PID namespace, and as processes that share its /proc see it
	 */
	uint32_t process, outer;
	unsigned int tried;
	/*
	 * whether the last descriptor was received over the socket and is already reserved for this
	 * program
	 */
	bool given;
};

/* Parses MAGNET_RINGS. Returns whether it is valid. */
bool pool_offer_read(struct pool_offer *o, const char *rings);
/*
 * Returns whether a program executed now would find the collector, at this value of MAGNET_RINGS;
 * true for a value that is none.
 */
bool pool_can_be_reached(const char *rings);
/* Returns a descriptor of the next pool to try, which the caller closes; -1 when none is left. */
int pool_offer_next(struct pool_offer *o);
/*
 * Returns whether the pool that was opened last is the collector's. Call it before the pool is
 * looked into, and after its descriptor was closed, as the program may be allowed no other.
 */
bool pool_offer_holds(const struct pool_offer *o);

#endif
