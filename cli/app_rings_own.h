/* SPDX-License-Identifier: MIT */
/* Internals shared by app_rings.c, app_pools.c and app_rings_read.c. */
#ifndef MAGNET_CLI_APP_RINGS_OWN_H
#define MAGNET_CLI_APP_RINGS_OWN_H

#include <linux/futex.h>

#include "app_ring.h"
#include "app_rings.h"
#include "inner_ids.h"
#include "pool_door.h"
#include "pool_file.h"

/* State of a ring that programs cannot write. */
struct known {
	struct pool *pool;
	struct mg_app_ring *ring;
	const struct mg_app_record *records;
	uint64_t tail;
	uint64_t lost;                    /* part of the ring's count that was reported */
	uint64_t stuck_at;                /* position of a record that is not complete */
	uint64_t stuck_since;             /* ns; since when it is not */
	const struct mg_app_record *next; /* next record in the merge */
	uint64_t limit;                   /* positions below this may be read now */
	uint64_t next_exit, last_exit;    /* cycles; of the record read last, 0 = none */
	bool whole;                       /* whether all records have memory */
};

/* The rings of a program. Their addresses are kept here, since programs can write the pool's. */
struct pool {
	struct pool_file file;
	struct mg_pool *head;
	struct mg_app_ring *rings;
	struct mg_app_record *records;
	struct known *known; /* an entry for each ring */
	uint32_t count, used, shift;
	uint32_t outer;        /* number of its process here, 0: not visible */
	uint32_t inner;        /* number of its process in its own namespace, 0: not yet known */
	struct inner_ids *ids; /* translation of its numbers; NULL: they are ours */
	/* part of the common ring's counts that was reported */
	uint64_t no_room, untimed, unreached;
	uint64_t unreached_seen; /* that count at the last reading */
	uint64_t look_at;        /* ns; time of the next check that a program still has it */
	uint64_t look_wait;
	bool alive; /* a thread had a ring when last seen */
	bool left;  /* no program has it any more: it is removed once it is read */
	bool taken; /* the collector reads it */
};

struct app_rings {
	/*
	 * NULL: could not be made. A pool that a program took stays until there is a descriptor for
	 * it.
	 */
	struct pool *ready[MG_POOLS_READY];
	struct pool **taken;
	uint32_t taken_n, taken_room;
	int first; /* descriptor of the first ready pool; -1: programs cannot reach them by /proc */
	struct pool_door door;
	uint64_t door_at; /* ns; time of the next check that it exists */
	char env[192];
	uint64_t id; /* number of the recording */
	uint32_t shift;
	uint64_t present;  /* bytes of records that have their memory */
	uint64_t unserved; /* programs that asked for a pool and got none, not yet reported */
	char why[160];     /* why the last of them got none */
	int spare;         /* descriptor for when there is no other; -1: there is none */
	/*
	 * The kernel may refuse memory at first use, and kill the program: ready rings have all of
	 * theirs.
	 */
	bool memory_is_scarce;
	uint64_t not_outer; /* calls with numbers of their processes' own namespace */
	bool wanted;
	uint64_t began;       /* cycles */
	uint64_t latest;      /* no call has ended later than this on the cycle counter */
	struct known **order; /* rings with something to read: a heap by next_exit */
	uint32_t active, order_room;
};

static inline bool owner_died(const struct mg_app_ring *ring)
{
	return __atomic_load_n((const uint32_t *)&ring->alive.__data.__lock, __ATOMIC_RELAXED) &
	       FUTEX_OWNER_DIED;
}

static inline bool is_common(const struct known *k)
{
	return k == &k->pool->known[MG_COMMON_RING];
}

#define APP_RINGS_TOTAL \
	(512ull << 20) /* bytes of all records; further threads share common rings */

/* Makes a pool that no program has yet. Returns NULL and `why` if it cannot. */
struct pool *app_pool_make(struct app_rings *r, char *why, size_t why_size);
void app_pool_free(struct app_rings *r, struct pool *p);
bool app_pool_make_ready(struct app_rings *r, struct pool *p, uint32_t i);
/*
 * Makes rings ready for threads to come, and repairs what programs wrote over. Call it at each
 * reading.
 */
void app_pool_keep(struct app_rings *r, struct pool *p);
/* Gives a ring that is in use all its memory. */
void app_pool_make_whole(struct app_rings *r, struct known *k);
void app_pool_want(struct pool *p, bool wanted);

/* Returns a descriptor that keeps a number from others; -1 if there is none. */
int app_rings_keep_number(int lowest);
/* Begins to read pools that programs took, and puts new ones in their places. */
void app_rings_replace_taken(struct app_rings *r);
/* At the end: makes sure that pools that programs took are read, or reported. */
void app_rings_end(struct app_rings *r);
/* Removes a pool whose program is gone and that was read to its end. */
void app_rings_remove(struct app_rings *r, uint32_t which);

#endif
