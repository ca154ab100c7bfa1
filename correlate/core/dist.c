/* SPDX-License-Identifier: MIT */
#include "dist_bins.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FEWEST_BINS 4  /* a short connection has thirty distributions of a few values */
#define FEW_BINS    16 /* which may be nearly full: looking through all of them takes no longer */
#define LINE        64 /* of the cache, bytes: in small ones it would take more than it saves */

#define KEY_MASK   (BELOW * 2 - 1)
#define SIZE_MASK  ((1u << 20) - 1)
#define WEIGHT_MAX ((1ull << 46) - 1)

static uint32_t bin_of(uint64_t v)
{
	int e;

	if (v < 1u << EXACT_BITS)
		return (uint32_t)v;
	e = 63 - __builtin_clzll(v) - (EXACT_BITS - 1);
	return ((uint32_t)e << (EXACT_BITS - 1)) + (uint32_t)(v >> e);
}

static struct dist_more *more_of(struct dist *d)
{
	if (!d->more)
		d->more = calloc(1, sizeof(*d->more));
	return d->more;
}

static uint32_t key_of(const struct dist *d, uint64_t v)
{
	uint64_t near = near_of(d);
	bool below = v < near;

	return (bin_of(below ? near - v : v - near) + 1) | (below ? BELOW : 0);
}

/* Neighbours side by side. */
static uint32_t place_of(uint32_t size, uint32_t key)
{
	return (key / 4 * 2654435769u * 4 + key % 4) & (size - 1);
}

static struct dist_bin *find(struct dist_bin *bins, uint32_t size, uint32_t key)
{
	uint32_t i = place_of(size, key);

	while (bins[i].key && bins[i].key != key)
		i = (i + 1) & (size - 1);
	return &bins[i];
}

static bool grow(struct dist *d)
{
	uint32_t size = d->size ? d->size * 2u : FEWEST_BINS;
	struct dist_bin *bins = size <= FEW_BINS ? malloc(size * sizeof(*bins))
						 : aligned_alloc(LINE, size * sizeof(*bins));

	if (!bins)
		return false;
	memset(bins, 0, size * sizeof(*bins));
	for (uint32_t i = 0; i < d->size; i++)
		if (d->bins[i].key)
			*find(bins, size, d->bins[i].key) = d->bins[i];
	free(d->bins);
	d->bins = bins;
	d->size = size & SIZE_MASK;
	return true;
}

/* One is always free, for find() to end at. */
static bool is_full(const struct dist *d)
{
	uint32_t size = d->size, used = d->used;

	return size <= FEW_BINS ? used + 1 >= size : used * 4 >= size * 3;
}

/* The bin is emptied, and what is added goes past it. */
static void add_wide(struct dist *d, struct dist_bin *b, unsigned __int128 above, uint64_t weight)
{
	struct dist_wide *w = wide_of(d, b->key);

	if (!w) {
		w = more_of(d) ? calloc(1, sizeof(*w)) : NULL;
		if (!w)
			return;
		w->next = d->more->wide;
		w->key = b->key;
		d->more->wide = w;
	}
	w->weight += b->weight + weight;
	w->above += b->above + above;
	b->weight = 0;
	b->above = 0;
}

/* NULL without memory. */
static struct dist_bin *bin_for(struct dist *d, uint32_t key)
{
	struct dist_bin *b = d->bins ? find(d->bins, d->size, key) : NULL;

	if (b && b->key)
		return b;
	if (is_full(d)) {
		if (!grow(d))
			return NULL;
		b = find(d->bins, d->size, key);
	}
	b->key = key;
	d->used++;
	return b;
}

/* Into a bin: a weight, and how far above the bin's begin it lies, times the weight. */
static void take_bin(struct dist *d, uint32_t key, unsigned __int128 above, uint64_t weight)
{
	struct dist_bin *b = bin_for(d, key);

	if (!b)
		return;
	if (above > UINT64_MAX - b->above || weight > WEIGHT_MAX - b->weight) {
		add_wide(d, b, above, weight);
	} else {
		b->weight += weight;
		b->above += (uint64_t)above;
	}
}

/* What is held, to its bin. */
static void put(struct dist *d)
{
	uint64_t origin = origin_of(d, d->held_key), weight = d->held_weight, above;
	uint64_t distance = d->held_key & BELOW ? origin - d->held : d->held - origin;
	struct dist_bin *b = bin_for(d, d->held_key);

	d->held_weight = 0;
	if (!b)
		return;
	if (__builtin_mul_overflow(distance, weight, &above) ||
		__builtin_add_overflow(above, b->above, &above) ||
		weight > WEIGHT_MAX - b->weight) {
		add_wide(d, b, (unsigned __int128)distance * weight, weight);
	} else {
		b->weight += weight;
		b->above = above;
	}
}

void dist_add(struct dist *d, uint64_t value, uint64_t weight)
{
	uint64_t both;

	if (weight == 0)
		return;
	d->sum += (unsigned __int128)value * weight;
	d->weight += weight;
	d->n++;
	if (value > d->max)
		d->max = value;
	/* one like the one before (often both are 0) needs no other bin */
	if (d->held_weight && value == d->held &&
		!__builtin_add_overflow(d->held_weight, weight, &both)) {
		d->held_weight = both;
		return;
	}
	if (d->held_weight)
		put(d);
	d->held = value;
	d->held_weight = weight;
	d->held_key = key_of(d, value) & KEY_MASK;
	if (d->bins)
		__builtin_prefetch(&d->bins[place_of(d->size, d->held_key)], 1);
}

void dist_add_near(struct dist *d, uint64_t value, uint64_t weight)
{
	if (!d->n && more_of(d))
		d->more->near = value;
	dist_add(d, value, weight);
}

void dist_add_all(struct dist *d, const struct dist *from)
{
	if (!from->n)
		return;
	for (uint32_t i = 0; i < from->size; i++)
		if (from->bins[i].key)
			take_bin(d, from->bins[i].key, from->bins[i].above, from->bins[i].weight);
	for (const struct dist_wide *w = from->more ? from->more->wide : NULL; w; w = w->next)
		take_bin(d, w->key, w->above, w->weight);
	if (from->held_weight)
		take_bin(d, from->held_key,
			(unsigned __int128)(from->held - origin_of(from, from->held_key)) *
				from->held_weight,
			from->held_weight);
	if (from->max > d->max)
		d->max = from->max;
	d->sum += from->sum;
	d->weight += from->weight;
	d->n += from->n;
}

void dist_free(struct dist *d)
{
	while (d->more && d->more->wide) {
		struct dist_wide *w = d->more->wide;

		d->more->wide = w->next;
		free(w);
	}
	free(d->more);
	free(d->bins);
	memset(d, 0, sizeof(*d));
}

double dist_mean(const struct dist *d)
{
	return d->weight ? (double)d->sum / (double)d->weight : 0;
}

uint64_t dist_weight_of_zero(const struct dist *d)
{
	const struct dist_bin *b = d->used ? find(d->bins, d->size, key_of(d, 0)) : NULL;
	const struct dist_wide *w = wide_of(d, key_of(d, 0));
	uint64_t held = d->held == 0 ? d->held_weight : 0;

	return (b && b->key ? b->weight : 0) + (w ? w->weight : 0) + held;
}
