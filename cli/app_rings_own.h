/* SPDX-License-Identifier: MIT */
/* What app_rings.c and app_rings_read.c share: one has the rings, the other reads them. */
#ifndef MAGNET_CLI_APP_RINGS_OWN_H
#define MAGNET_CLI_APP_RINGS_OWN_H

#include <linux/futex.h>

#include "app_ring.h"
#include "app_rings.h"
#include "pool_file.h"

/* What is known of a ring, out of the programs' reach. */
struct known {
	uint64_t tail;
	uint64_t lost;                    /* the ring's count, as far as it was told */
	uint64_t stuck_at;                /* position whose record is not complete, */
	uint64_t stuck_since;             /* and since when; ns */
	const struct mg_app_record *next; /* to be read next, while merging */
	uint64_t limit;                   /* positions below this may be read now */
	uint64_t next_exit, last_exit;    /* cycles; of the record read last, 0 = none */
};

struct app_rings {
	struct pool_file file;
	struct mg_pool *pool;
	struct mg_app_ring
		*rings; /* where they are is not asked of the file, which programs can write */
	struct mg_app_record *records;
	struct known *known;
	uint32_t used, shift;
	bool wanted;
	uint64_t no_room; /* the common ring's count, as far as it was told */
	uint64_t began;   /* cycles */
	uint64_t latest;  /* calls that end after this on the cycle counter cannot have been */
	uint32_t *order;  /* rings with something to read: a heap by next_exit */
	uint32_t active;
};

static inline bool owner_died(const struct mg_app_ring *ring)
{
	return __atomic_load_n((const uint32_t *)&ring->alive.__data.__lock, __ATOMIC_RELAXED) &
	       FUTEX_OWNER_DIED;
}

bool app_rings_make_ready(struct app_rings *r, uint32_t i);
void app_rings_keep_ready(struct app_rings *r);
void app_rings_repair(struct app_rings *r);

#endif
