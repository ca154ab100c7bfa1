/* SPDX-License-Identifier: MIT */
/* Storage of a distribution's bins, for its own files and the waterfall. */
#ifndef MAGNET_CORRELATE_DIST_BINS_H
#define MAGNET_CORRELATE_DIST_BINS_H

#include <stddef.h>

#include "sums/dist.h"

#define EXACT_BITS 11         /* where bins are narrowest, values below 2^11 have a bin each */
#define BELOW      (1u << 17) /* flag in a key: the bin holds values below `near` */

struct dist_more {
	uint64_t near;          /* bins are finest around this value; 0 = for small values */
	struct dist_wide *wide; /* list, mostly empty */
};

static inline uint64_t near_of(const struct dist *d)
{
	return d->more ? d->more->near : 0;
}

/* Part of a bin that a hash table has no room for. */
struct dist_wide {
	struct dist_wide *next;
	uint32_t key;
	uint64_t weight;
	unsigned __int128 above;
};

static inline struct dist_wide *wide_of(const struct dist *d, uint32_t key)
{
	struct dist_wide *w = d->more ? d->more->wide : NULL;

	while (w && w->key != key)
		w = w->next;
	return w;
}

/* Returns the bin of a distance from `near`, and the distance from the bin's begin. */
static inline uint32_t bin_of(uint64_t v, unsigned int coarse, uint64_t *above)
{
	int bits = EXACT_BITS - (int)coarse;
	/* a value with a bin of its own is not shifted */
	int e = 63 - __builtin_clzll(v | 1u << (bits - 1)) - (bits - 1);

	*above = v & ((1ull << e) - 1);
	return ((uint32_t)e << (bits - 1)) + (uint32_t)(v >> e);
}

/* Returns the first value of a bin. */
static inline uint64_t begin_of(uint32_t bin, unsigned int coarse)
{
	unsigned int bits = EXACT_BITS - coarse;
	uint32_t e = bin < 1u << bits ? 0 : (bin >> (bits - 1)) - 1;

	return (uint64_t)(bin - (e << (bits - 1))) << e;
}

/* Returns the begin of a key's bin as a distance from `near`, upwards or downwards. */
static inline uint64_t begin_of_key(uint32_t key, unsigned int coarse)
{
	return begin_of((key & ~BELOW) - 1, coarse);
}

/* Sorts the waiting values into bins. The distribution's results do not change. */
void dist_settle(const struct dist *d);

/* Content of a bin in either storage. */
struct dist_item {
	uint32_t key;
	uint64_t weight;
	unsigned __int128 above;
};

/* Iterates over the bins, packed ones in order of key; start with {d}. */
struct dist_walk {
	const struct dist *d;
	uint32_t done, key;
	const void *at; /* next bin, NULL = the first */
};
bool dist_next(struct dist_walk *w, struct dist_item *item);

/* Returns the sum of a bin's values. */
static inline unsigned __int128 dist_item_sum(const struct dist *d, const struct dist_item *i)
{
	uint64_t near = near_of(d), begin = begin_of_key(i->key, d->coarse);

	return i->key & BELOW ? (unsigned __int128)(near - begin) * i->weight - i->above
			      : (unsigned __int128)(near + begin) * i->weight + i->above;
}

/*
 * (dist_packed.c) Packs the bins together with `n` more of the same width, sorted by key, all
 * widened to `coarse`. Returns false and changes nothing if memory is short.
 */
bool dist_pack(struct dist *d, const struct dist_item *more, uint32_t n, unsigned int coarse);
/*
 * Returns how many bytes the allocator provides for that many packed bytes, as its own header takes
 * eight; 0 for none.
 */
static inline size_t dist_room(size_t bytes)
{
	return bytes ? ((bytes + 8 + 15) & ~(size_t)15) - 8 : 0;
}
/* Returns its share of the pool's memory, without a hash table; bytes. */
size_t dist_memory(const struct dist *d);
/* Packs the bins of a hash table. */
bool dist_pack_table(struct dist *d);
/* Accounts for memory of bins that was allocated or freed. */
static inline void dist_account(const struct dist *d, size_t taken, size_t freed, bool is_table)
{
	if (!d->pool)
		return;
	if (is_table)
		d->pool->tables += taken - freed;
	else
		d->pool->used += taken - freed;
}

#endif
