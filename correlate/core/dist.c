/* SPDX-License-Identifier: MIT */
#include "dist_bins.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"

#define FEWEST_BINS 4  /* a short connection has thirty distributions of a few values */
#define FEW_BINS    16 /* which may be nearly full: looking through all of them takes no longer */
#define LINE        64 /* of the cache, bytes: in small ones it would take more than it saves */

/* From 3 on twice as many and one more each time: so malloc() rounds nothing up. */
#define LATE_FEWEST 3
#define LATE_MOST   31

#define WEIGHT_MAX ((1ull << 46) - 1)

/* Where a value belongs: how far above the begin of which bin. */
struct spot {
	uint32_t key;
	uint64_t above;
};

static inline struct spot spot_of(uint64_t near, uint64_t value)
{
	bool below = value < near;
	uint64_t v = below ? near - value : value - near;
	/* what has a bin of its own is not shifted */
	int e = 63 - __builtin_clzll(v | 1u << (EXACT_BITS - 1)) - (EXACT_BITS - 1);
	uint32_t bin = ((uint32_t)e << (EXACT_BITS - 1)) + (uint32_t)(v >> e);

	return (struct spot){(bin + 1) | (below ? BELOW : 0), v & ((1ull << e) - 1)};
}

static struct dist_more *more_of(struct dist *d)
{
	if (!d->more)
		d->more = mg_calloc(1, sizeof(*d->more));
	return d->more;
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
	struct dist_bin *bins = size <= FEW_BINS ? mg_malloc(size * sizeof(*bins))
						 : mg_aligned_alloc(LINE, size * sizeof(*bins));

	if (!bins)
		return false;
	memset(bins, 0, size * sizeof(*bins));
	for (uint32_t i = 0; i < d->size; i++)
		if (d->bins[i].key)
			*find(bins, size, d->bins[i].key) = d->bins[i];
	free(d->bins);
	d->bins = bins;
	d->size = size;
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
		w = more_of(d) ? mg_calloc(1, sizeof(*w)) : NULL;
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
static struct dist_bin *new_bin(struct dist *d, uint32_t key)
{
	struct dist_bin *b;

	if (is_full(d) && !grow(d))
		return NULL;
	b = find(d->bins, d->size, key);
	b->key = key;
	d->used++;
	return b;
}

static inline struct dist_bin *bin_for(struct dist *d, uint32_t key)
{
	struct dist_bin *b = d->bins ? find(d->bins, d->size, key) : NULL;

	return b && b->key ? b : new_bin(d, key);
}

/* Into a bin: a weight, and how far above the bin's begin it lies, times the weight. */
static inline void take_bin(struct dist *d, uint32_t key, unsigned __int128 above, uint64_t weight)
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

static void take_value(struct dist *d, uint64_t value, uint64_t weight)
{
	struct spot s = spot_of(near_of(d), value);

	take_bin(d, s.key, (unsigned __int128)s.above * weight, weight);
}

static inline struct dist_late *late_of(struct dist *d)
{
	return d->late_cap ? d->late : &d->only;
}

static void settle(struct dist *d)
{
	const struct dist_late *late = late_of(d);
	struct spot spot[LATE_MOST];
	uint64_t near = near_of(d);

	for (uint32_t i = 0; i < d->late_n; i++) {
		spot[i] = spot_of(near, late[i].value);
		if (d->size > FEW_BINS) /* so that all are fetched at once */
			__builtin_prefetch(&d->bins[place_of(d->size, spot[i].key)], 1);
	}
	for (uint32_t i = 0; i < d->late_n; i++) {
		uint64_t weight = late[i].weight;

		take_bin(d, spot[i].key, (unsigned __int128)spot[i].above * weight, weight);
	}
	d->late_n = 0;
}

void dist_settle(const struct dist *known)
{
	struct dist *d = (struct dist *)(uintptr_t)known;

	settle(d);
	if (d->late_cap)
		free(d->late);
	d->late_cap = 0;
}

/* False without memory. */
static bool make_room(struct dist *d)
{
	uint32_t cap = d->late_cap ? d->late_cap * 2u + 1 : LATE_FEWEST;
	struct dist_late *more;

	if (d->late_cap == LATE_MOST) {
		settle(d);
		return true;
	}
	more = mg_realloc(d->late_cap ? d->late : NULL, cap * sizeof(*more));
	if (!more)
		return false;
	if (!d->late_cap)
		*more = d->only;
	d->late = more;
	d->late_cap = (uint8_t)cap;
	return true;
}

void dist_add(struct dist *d, uint64_t value, uint64_t weight)
{
	struct dist_late *late = late_of(d);
	uint32_t n = d->late_n;

	if (weight == 0)
		return;
	d->sum += (unsigned __int128)value * weight;
	d->weight += weight;
	d->n++;
	if (value > d->max)
		d->max = value;
	if ((value | weight) > UINT32_MAX) {
		take_value(d, value, weight);
		return;
	}
	/* one like the one before (often both are 0) needs no other place */
	if (n && late[n - 1].value == value && weight <= UINT32_MAX - late[n - 1].weight) {
		late[n - 1].weight += (uint32_t)weight;
		return;
	}
	if (n == (d->late_cap ? d->late_cap : 1u)) {
		if (!make_room(d))
			return;
		late = late_of(d);
		n = d->late_n;
	}
	late[n] = (struct dist_late){(uint32_t)value, (uint32_t)weight};
	d->late_n = (uint8_t)(n + 1);
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
	for (uint32_t i = 0; i < from->late_n; i++) {
		const struct dist_late *late = from->late_cap ? &from->late[i] : &from->only;

		take_value(d, late->value, late->weight);
	}
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
	if (d->late_cap)
		free(d->late);
	free(d->bins);
	memset(d, 0, sizeof(*d));
}

double dist_mean(const struct dist *d)
{
	return d->weight ? (double)d->sum / (double)d->weight : 0;
}

uint64_t dist_weight_of_zero(const struct dist *d)
{
	uint32_t key = spot_of(near_of(d), 0).key;
	const struct dist_wide *w = wide_of(d, key);
	const struct dist_bin *b;

	dist_settle(d);
	b = d->used ? find(d->bins, d->size, key) : NULL;
	return (b && b->key ? b->weight : 0) + (w ? w->weight : 0);
}
