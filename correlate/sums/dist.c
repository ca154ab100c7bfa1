/* SPDX-License-Identifier: MIT */

#include "sums/dist.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "sums/dist_bins.h"
#include "sums/dist_late.h"

#define FEWEST_BINS 4 /* a short connection has thirty distributions of a few values each */
/* such small tables may be nearly full: scanning all of them takes no longer */
#define FEW_BINS 16
/* cache line, bytes: aligning small tables would cost more than it saves */
#define LINE 64

/*
 * Cells with values that wait. Those of one weight take no more than their bins would, as long as
 * these are narrow.
 */
#define CELLS_MOST   4
#define CELLS_WIDE   2 /* where bins are wide */
#define MIXED_MOST   4
#define MIXED_SCARCE 2                            /* where the pool has little room */
#define WAITING      (CELLS_MOST * DIST_CELL + 1) /* values, with the last one */
#define LARGE        1024 /* bytes of bins above which the waiting values are negligible */

#define BUSY 64 /* samples from which on a hash table is worth its memory, if there is some */

#define WEIGHT_MAX ((1ull << 46) - 1)

/* Position of a value: a bin, and the distance from the bin's begin. */
struct spot {
	uint32_t key;
	uint64_t above;
};

static inline struct spot spot_of(uint64_t near, unsigned int coarse, uint64_t value)
{
	bool below = value < near;
	struct spot s;

	s.key = bin_of(below ? near - value : value - near, coarse, &s.above) + 1;
	s.key |= below ? BELOW : 0;
	return s;
}

static struct dist_more *more_of(struct dist *d)
{
	if (!d->more)
		d->more = mg_calloc(1, sizeof(*d->more));
	return d->more;
}

/* Returns a slot so that neighbouring keys lie side by side. */
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
	dist_account(d, size * sizeof(*bins), d->size * sizeof(*bins), true);
	d->bins = bins;
	d->size = size;
	return true;
}

/*
 * Returns whether a table stays below its load limit; one slot is always free, for find() to end
 * at.
 */
static bool has_room_for(uint32_t size, uint32_t used)
{
	return size <= FEW_BINS ? used + 1 < size : used * 4 < size * 3;
}

static bool is_full(const struct dist *d)
{
	return !has_room_for(d->size, d->used);
}

/* Adds to a bin whose counters would overflow: the bin is emptied into a wide one. */
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

/* Returns a new bin; NULL if memory is short. */
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

/* Adds to a bin: a weight, and the distance from the bin's begin times the weight. */
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

/* Returns whether the pool has room for a hash table with `more` bins added. */
static bool may_have_table(const struct dist *d, uint32_t more)
{
	size_t had = d->is_packed ? 0 : d->size, size = had ? had : FEWEST_BINS;

	if (!d->pool)
		return true;
	while (!has_room_for((uint32_t)size, d->used + more))
		size *= 2;
	return size == had ||
	       d->pool->tables + (size - had) * sizeof(*d->bins) <= d->pool->tables_limit;
}

static bool unpack(struct dist *d)
{
	struct dist packed = *d;
	struct dist_walk w = {.d = &packed};
	struct dist_item item;

	d->bins = NULL;
	d->used = d->size = 0;
	d->is_packed = false;
	while (!d->size || !has_room_for(d->size, packed.used))
		if (!grow(d)) {
			dist_account(d, 0, d->size * sizeof(*d->bins), true);
			free(d->bins);
			*d = packed;
			return false;
		}
	while (dist_next(&w, &item))
		take_bin(d, item.key, item.above, item.weight);
	dist_account(d, 0, dist_room(packed.size), false);
	free(packed.packed);
	return true;
}

/* Returns whether the next `n` values go into a hash table. */
static bool has_table(struct dist *d, uint32_t n)
{
	if (!d->is_packed && d->size)
		return may_have_table(d, n) || !dist_pack_table(d);
	if (!d->pool)
		return true;
	return d->n >= BUSY && may_have_table(d, n) && (!d->is_packed || unpack(d));
}

/* Widens the bins as far as the pool demands. */
static void keep_up(struct dist *d)
{
	if (d->used > DIST_FEW && d->coarse < d->pool->coarse)
		dist_coarsen(d, d->pool->coarse);
}

/* Sorts up to WAITING numbers (Shell; the gaps are Ciura's, 2001). */
static void sort(uint64_t *v, uint32_t n)
{
	static const uint8_t gaps[] = {23, 10, 4, 1};

	for (size_t g = 0; g < sizeof(gaps); g++)
		for (uint32_t i = gaps[g]; i < n; i++) {
			uint64_t next = v[i];
			uint32_t k = i;

			for (; k >= gaps[g] && v[k - gaps[g]] > next; k -= gaps[g])
				v[k] = v[k - gaps[g]];
			v[k] = next;
		}
}

/* Adds waiting values to packed bins. */
static void take_late(struct dist *d, const struct dist_late *late, uint32_t n)
{
	uint64_t near = near_of(d), order[WAITING];
	struct dist_item item[WAITING];

	keep_up(d);
	for (uint32_t i = 0; i < n; i++)
		order[i] = (uint64_t)spot_of(near, d->coarse, late[i].value).key << 8 | i;
	sort(order, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct dist_late *l = &late[order[i] & 255];

		item[i] = (struct dist_item){(uint32_t)(order[i] >> 8), l->weight,
			(unsigned __int128)spot_of(near, d->coarse, l->value).above * l->weight};
	}
	dist_pack(d, item, n, d->coarse);
}

static void take_value(struct dist *d, uint64_t value, uint64_t weight)
{
	struct dist_item item = {.weight = weight};
	struct spot s;

	if (!has_table(d, 1))
		keep_up(d);
	s = spot_of(near_of(d), d->coarse, value);
	item.key = s.key;
	item.above = (unsigned __int128)s.above * weight;
	if (d->is_packed || (d->pool && !d->size))
		dist_pack(d, &item, 1, d->coarse);
	else
		take_bin(d, item.key, item.above, weight);
}

/* Copies the values that wait, the last one first. Returns how many there are. */
static uint32_t waiting(const struct dist *d, struct dist_late late[WAITING])
{
	uint32_t n = 0, left = d->late_left, per = dist_per_cell(d);

	if (d->late_n)
		late[n++] = d->last;
	for (const struct dist_cell *c = d->late; n < d->late_n; c = c->before) {
		for (uint32_t i = left; i < per; i++)
			late[n++] = d->is_mixed ? c->mixed[i]
						: (struct dist_late){c->word[i], d->late_weight};
		left = 0;
	}
	return n;
}

static void settle(struct dist *d)
{
	struct dist_late late[WAITING];
	uint32_t n = waiting(d, late);
	struct spot spot[WAITING];
	uint64_t near = near_of(d);

	if (!n)
		return;
	dist_cells_free(d);
	if (!has_table(d, n)) {
		take_late(d, late, n);
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		spot[i] = spot_of(near, d->coarse, late[i].value);
		if (d->size > FEW_BINS) /* so that all are fetched at once */
			__builtin_prefetch(&d->bins[place_of(d->size, spot[i].key)], 1);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint64_t weight = late[i].weight;

		take_bin(d, spot[i].key, (unsigned __int128)spot[i].above * weight, weight);
	}
}

void dist_settle(const struct dist *known)
{
	settle((struct dist *)(uintptr_t)known);
}

static uint32_t cells_most(const struct dist *d)
{
	if (!d->is_mixed)
		return d->pool && d->pool->coarse ? CELLS_WIDE : CELLS_MOST;
	return d->pool && d->pool->is_scarce && d->size < LARGE ? MIXED_SCARCE : MIXED_MOST;
}

/* Makes room in the first cell, or empties all. Returns false if memory is short. */
static bool make_room(struct dist *d)
{
	uint32_t cells = dist_cells(d);
	struct dist_cell *more;

	if (cells >= cells_most(d)) {
		settle(d);
		return true;
	}
	more = dist_cell_new(d->pool);
	if (!more)
		return false;
	dist_account(d, sizeof(*more), 0, false);
	memset(more, 0, sizeof(*more));
	more->before = d->late;
	d->late = more;
	d->late_left = (uint8_t)dist_per_cell(d);
	d->late_weight = d->last.weight;
	return true;
}

static void hold(struct dist *d, struct dist_late value);

/* Has the values in cells have weights of their own, or empties all. */
static void mix(struct dist *d)
{
	struct dist_late late[WAITING];
	uint32_t n = waiting(d, late);

	if (n - 1 > MIXED_SCARCE * DIST_CELL_MIXED) {
		settle(d);
		d->is_mixed = true;
		return;
	}
	dist_cells_free(d);
	d->is_mixed = true;
	while (n)
		hold(d, late[--n]);
}

/* Moves the last value to a cell. Returns false if memory is short. */
static inline bool keep_last(struct dist *d)
{
	if (d->late && !d->is_mixed && d->last.weight != d->late_weight)
		mix(d);
	if (d->late_n && !d->late_left && !make_room(d))
		return false;
	if (d->late_n && d->is_mixed)
		d->late->mixed[--d->late_left] = d->last;
	else if (d->late_n)
		d->late->word[--d->late_left] = d->last.value;
	return true;
}

/* Has a value wait for its bin. */
static void hold(struct dist *d, struct dist_late value)
{
	if (d->late_n && !keep_last(d))
		return;
	d->last = value;
	d->late_n++;
}

void dist_add(struct dist *d, uint64_t value, uint64_t weight)
{
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
	/* a value equal to the previous one (often both are 0) needs no other place */
	if (d->late_n && d->last.value == value && weight <= UINT32_MAX - d->last.weight) {
		d->last.weight += (uint32_t)weight;
		return;
	}
	hold(d, (struct dist_late){(uint32_t)value, (uint32_t)weight});
}

void dist_add_near(struct dist *d, uint64_t value, uint64_t weight)
{
	if (!d->n && more_of(d))
		d->more->near = value;
	dist_add(d, value, weight);
}

/* Adds all values of another distribution's bin; if that is wider, their mean stands for them. */
static void take_item(struct dist *d, const struct dist *from, const struct dist_item *item)
{
	unsigned __int128 sum = dist_item_sum(from, item);
	uint64_t mean = (uint64_t)(sum / item->weight);
	struct spot s = spot_of(0, d->coarse, mean);

	take_bin(d, s.key, sum - (unsigned __int128)(mean - s.above) * item->weight, item->weight);
}

void dist_add_all(struct dist *d, const struct dist *from)
{
	struct dist_walk w = {.d = from};
	struct dist_late late[WAITING];
	struct dist_item item;
	uint32_t n;

	if (!from->n)
		return;
	while (dist_next(&w, &item))
		take_item(d, from, &item);
	n = waiting(from, late);
	for (uint32_t i = 0; i < n; i++)
		take_value(d, late[i].value, late[i].weight);
	if (from->max > d->max)
		d->max = from->max;
	d->sum += from->sum;
	d->weight += from->weight;
	d->n += from->n;
}

/*
 * Returns whether bins may take less than the values that wait: those with weights always do, those
 * of one weight where many have the same bin.
 */
static bool may_shrink(const struct dist *d)
{
	return d->is_mixed || d->coarse || !d->used || d->used < (d->n - d->late_n) / 2;
}

void dist_save(struct dist *d)
{
	if (!d->pool)
		return;
	if (!d->is_packed && d->size && d->pool->tables > d->pool->tables_limit / 4 * 3)
		dist_pack_table(d);
	if (dist_cells(d) > (d->is_mixed ? MIXED_SCARCE : CELLS_WIDE) && may_shrink(d))
		settle(d);
}

void dist_trim(struct dist *d)
{
	dist_save(d);
	if (d->pool && dist_cells(d) > (d->is_mixed ? 1 : 2)) /* packed, fewer take as much */
		settle(d);
}

size_t dist_memory(const struct dist *d)
{
	return dist_cells(d) * sizeof(struct dist_cell) + (d->is_packed ? dist_room(d->size) : 0);
}

void dist_free(struct dist *d)
{
	struct dist_pool *pool = d->pool;

	if (!d->n) /* most of a short connection's are empty */
		return;
	while (d->more && d->more->wide) {
		struct dist_wide *w = d->more->wide;

		d->more->wide = w->next;
		free(w);
	}
	free(d->more);
	dist_cells_free(d);
	dist_account(d, 0, d->is_packed ? dist_room(d->size) : d->size * sizeof(*d->bins),
		!d->is_packed);
	free(d->bins);
	memset(d, 0, sizeof(*d));
	d->pool = pool;
}

double dist_mean(const struct dist *d)
{
	return d->weight ? (double)d->sum / (double)d->weight : 0;
}

uint64_t dist_weight_of_zero(const struct dist *d)
{
	struct dist_walk w = {.d = d};
	struct dist_item item;
	uint32_t key;

	dist_settle(d);
	key = spot_of(near_of(d), d->coarse, 0).key;
	while (dist_next(&w, &item))
		if (item.key == key)
			return item.weight;
	return 0;
}
