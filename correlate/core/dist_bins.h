/* SPDX-License-Identifier: MIT */
/* How a distribution's bins are kept: for its own files only. */
#ifndef MAGNET_CORRELATE_DIST_BINS_H
#define MAGNET_CORRELATE_DIST_BINS_H

#include <stddef.h>

#include "dist.h"

#define EXACT_BITS 11         /* values below 2^11 have a bin each */
#define BELOW      (1u << 17) /* in a key: the bin is of values below `near` */

struct dist_more {
	uint64_t near; /* bins are as fine as values are near to this one; 0 = as they are small */
	struct dist_wide *wide; /* a list, of very few if any */
};

static inline uint64_t near_of(const struct dist *d)
{
	return d->more ? d->more->near : 0;
}

/* What bins have no room for. */
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

/* What the bin of a value begins with. */
static inline uint64_t begin_of(uint32_t bin)
{
	uint32_t e = bin < 1u << EXACT_BITS ? 0 : (bin >> (EXACT_BITS - 1)) - 1;

	return (uint64_t)(bin - (e << (EXACT_BITS - 1))) << e;
}

/* Values of a bin are told by their distance from this, which is towards greater ones or smaller.
 */
static inline uint64_t origin_of(const struct dist *d, uint32_t key)
{
	uint64_t begin = begin_of((key & ~BELOW) - 1);

	return key & BELOW ? near_of(d) - begin : near_of(d) + begin;
}

/* All that is late to its bin. What the distribution tells stays the same. */
void dist_settle(const struct dist *d);

#endif
