/* SPDX-License-Identifier: MIT */
/* How a distribution's bins are kept: for its own files and the waterfall. */
#ifndef MAGNET_CORRELATE_DIST_BINS_H
#define MAGNET_CORRELATE_DIST_BINS_H

#include <stddef.h>

#include "sums/dist.h"

#define EXACT_BITS 11         /* values below 2^11 have a bin each, where bins are narrowest */
#define BELOW      (1u << 17) /* in a key: the bin is of values below `near` */

struct dist_more {
	uint64_t near; /* bins are as fine as values are near to this one; 0 = as they are small */
	struct dist_wide *wide; /* a list, of very few if any */
};

static inline uint64_t near_of(const struct dist *d)
{
	return d->more ? d->more->near : 0;
}

/* What bins of a hash table have no room for. */
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

/* The bin of a distance from `near`, and how far above the bin's begin it lies. */
static inline uint32_t bin_of(uint64_t v, unsigned int coarse, uint64_t *above)
{
	int bits = EXACT_BITS - (int)coarse;
	/* what has a bin of its own is not shifted */
	int e = 63 - __builtin_clzll(v | 1u << (bits - 1)) - (bits - 1);

	*above = v & ((1ull << e) - 1);
	return ((uint32_t)e << (bits - 1)) + (uint32_t)(v >> e);
}

/* What a bin begins with. */
static inline uint64_t begin_of(uint32_t bin, unsigned int coarse)
{
	unsigned int bits = EXACT_BITS - coarse;
	uint32_t e = bin < 1u << bits ? 0 : (bin >> (bits - 1)) - 1;

	return (uint64_t)(bin - (e << (bits - 1))) << e;
}

/* The values of a key are told by their distance from this, towards greater ones or smaller. */
static inline uint64_t begin_of_key(uint32_t key, unsigned int coarse)
{
	return begin_of((key & ~BELOW) - 1, coarse);
}

/* All that is late to its bin. What the distribution tells stays the same. */
void dist_settle(const struct dist *d);

/* The content of a bin, however it is kept. */
struct dist_item {
	uint32_t key;
	uint64_t weight;
	unsigned __int128 above;
};

/* The bins one by one, packed ones in order of key; begin with {d}. */
struct dist_walk {
	const struct dist *d;
	uint32_t done, key;
	const void *at; /* the next one, NULL = the first */
};
bool dist_next(struct dist_walk *w, struct dist_item *item);

/* The sum of the values of a bin. */
static inline unsigned __int128 dist_item_sum(const struct dist *d, const struct dist_item *i)
{
	uint64_t near = near_of(d), begin = begin_of_key(i->key, d->coarse);

	return i->key & BELOW ? (unsigned __int128)(near - begin) * i->weight - i->above
			      : (unsigned __int128)(near + begin) * i->weight + i->above;
}

/*
 * (dist_packed.c) Pack the bins with `n` more of the same width, which are in order of key; all as
 * wide as `coarse` says. Returns false without memory: nothing has changed.
 */
bool dist_pack(struct dist *d, const struct dist_item *more, uint32_t n, unsigned int coarse);
/* What malloc() gives for so many packed bytes, of which it takes eight itself; 0 for none. */
static inline size_t dist_room(size_t bytes)
{
	return bytes ? ((bytes + 8 + 15) & ~(size_t)15) - 8 : 0;
}
/* What it takes of the pool's memory, but for a hash table; bytes. */
size_t dist_memory(const struct dist *d);
/* Pack those of a hash table. */
bool dist_pack_table(struct dist *d);
/* Memory of bins has been taken or freed. */
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
