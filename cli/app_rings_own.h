/* SPDX-License-Identifier: MIT */
/* What app_rings.c, app_pools.c and app_rings_read.c share. */
#ifndef MAGNET_CLI_APP_RINGS_OWN_H
#define MAGNET_CLI_APP_RINGS_OWN_H

#include <linux/futex.h>

#include "app_ring.h"
#include "app_rings.h"
#include "inner_ids.h"
#include "pool_door.h"
#include "pool_file.h"

/* What is known of a ring, out of the programs' reach. */
struct known {
	struct pool *pool;
	struct mg_app_ring *ring;
	const struct mg_app_record *records;
	uint64_t tail;
	uint64_t lost;                    /* the ring's count, as far as it was told */
	uint64_t stuck_at;                /* position whose record is not complete, */
	uint64_t stuck_since;             /* and since when; ns */
	const struct mg_app_record *next; /* to be read next, while merging */
	uint64_t limit;                   /* positions below this may be read now */
	uint64_t next_exit, last_exit;    /* cycles; of the record read last, 0 = none */
	bool whole;                       /* all of its records have their memory */
};

/* The rings of a program. Where they are is not asked of the pool, which programs can write. */
struct pool {
	struct pool_file file;
	struct mg_pool *head;
	struct mg_app_ring *rings;
	struct mg_app_record *records;
	struct known *known; /* of each ring */
	uint32_t count, used, shift;
	uint32_t outer;            /* its process, 0: it cannot be seen */
	uint32_t inner;            /* the same as it sees itself, 0: not yet known */
	struct inner_ids *ids;     /* where it sees other numbers of processes */
	uint64_t no_room, untimed; /* the common ring's counts, as far as they were told */
	uint64_t look_at;          /* ns; when to see again whether a program has it */
	uint64_t look_wait;
	bool alive; /* a thread had a ring when last seen */
	bool left;  /* no program has it any more: it goes when all of it is read */
	bool taken; /* it is among those that are read */
};

struct app_rings {
	/* NULL where none could be made; one that was taken until there is a descriptor for it */
	struct pool *ready[MG_POOLS_READY];
	struct pool **taken;
	uint32_t taken_n, taken_room;
	int first; /* descriptor of the first that is ready; -1: they are not reached by /proc */
	struct pool_door door;
	uint64_t door_at; /* ns; when to see again whether it is there */
	char env[192];
	uint64_t id; /* of the recording */
	uint32_t shift;
	uint64_t present;  /* bytes of records that have their memory */
	uint64_t unserved; /* programs that asked for a pool and got none, until that is told */
	char why[160];     /* the last of them got none */
	int spare;         /* descriptor for when there is no other; -1: there is none */
	/* what is used without having been given may be refused, which kills: rings that are ready
	 * have all their memory */
	bool memory_is_scarce;
	uint64_t not_outer; /* calls with the numbers their processes have inside */
	bool wanted;
	uint64_t began;       /* cycles */
	uint64_t latest;      /* calls that end after this on the cycle counter cannot have been */
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

#define APP_RINGS_TOTAL                                                           \
	(512ull << 20) /* bytes of all records: threads beyond share common rings \
			*/

/* A pool that no program has yet; NULL if it cannot be made, and `why` says at what. */
struct pool *app_pool_make(struct app_rings *r, char *why, size_t why_size);
void app_pool_free(struct app_rings *r, struct pool *p);
bool app_pool_make_ready(struct app_rings *r, struct pool *p, uint32_t i);
/* To be called at each reading: rings for threads to come, what was written over. */
void app_pool_keep(struct app_rings *r, struct pool *p);
/* Give a ring that is in use all its memory. */
void app_pool_make_whole(struct app_rings *r, struct known *k);
void app_pool_want(struct pool *p, bool wanted);

/* Returns a descriptor that keeps a number from others; -1 if there is none. */
int app_rings_keep_number(int lowest);
/* Pools that were taken are read, and replaced. */
void app_rings_replace_taken(struct app_rings *r);
/* All that were taken are among those that are read, or told. */
void app_rings_end(struct app_rings *r);
/* A pool whose program is gone, and that was read to its end, is none any more. */
void app_rings_remove(struct app_rings *r, uint32_t which);

#endif
