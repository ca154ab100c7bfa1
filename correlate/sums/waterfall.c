/* SPDX-License-Identifier: MIT */

#include "sums/waterfall.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "sums/dist.h"
#include "sums/dist_bins.h"
#include "sums/dist_late.h"

#define FEWEST_PLACES 4
#define NARROWEST     3 /* binary digits by which bins are wider than a distribution's */
#define FEW_CELLS     8 /* fewer cells are not merged */
#define HALF_WINDOW   0.005

/* Cells of samples that wait: two take less than a bin, so fewer wait only where bins are wide. */
#define LATE_MOST 56
#define LATE_WIDE 16

/*
 * A sample that waits has a word with its weight and a bit for each stage that took any time, and
 * then the times of these. A word that is 0 is behind the last sample of a cell.
 */
#define LATE_BARS       10
#define LATE_WEIGHT_MAX ((1u << (32 - LATE_BARS)) - 1)

enum { SAMPLES, WEIGHT, TOTAL, FIRST_BAR };

static uint32_t key_of(uint64_t v, unsigned int coarse)
{
	uint64_t above;

	return bin_of(v, NARROWEST + coarse, &above) + 1;
}

static void account(const struct waterfall *w, size_t taken, size_t freed)
{
	if (w->pool)
		w->pool->used += taken - freed;
}

size_t waterfall_cell_size(const struct waterfall *w)
{
	return ((size_t)w->bars + FIRST_BAR) * sizeof(double);
}

/* A place holds a key and the index of its cell. */
#define CELL_BITS 16 /* more than there are keys */
#define CELL_MASK ((1u << CELL_BITS) - 1)

static uint32_t *find(uint32_t *place, uint32_t size, uint32_t key)
{
	uint32_t i = key * 2654435769u & (size - 1);

	while (place[i] && place[i] >> CELL_BITS != key)
		i = (i + 1) & (size - 1);
	return &place[i];
}

static double *cell_at(const struct waterfall *w, uint32_t i)
{
	return w->cell + (size_t)i * (w->bars + FIRST_BAR);
}

static bool grow_places(struct waterfall *w)
{
	uint32_t size = w->size ? w->size * 2 : FEWEST_PLACES;
	uint32_t *more = mg_calloc(size, sizeof(*more));

	if (!more)
		return false;
	for (uint32_t i = 0; i < w->size; i++)
		if (w->place[i])
			*find(more, size, w->place[i] >> CELL_BITS) = w->place[i];
	free(w->place);
	account(w, size * sizeof(*more), w->size * sizeof(*more));
	w->place = more;
	w->size = size;
	return true;
}

/* Grows by half: cells are large, and most flows have few. */
static bool grow_cells(struct waterfall *w)
{
	uint32_t cap = w->cap + w->cap / 2 + 1;
	double *more = mg_realloc(w->cell, cap * waterfall_cell_size(w));

	if (!more)
		return false;
	account(w, cap * waterfall_cell_size(w), w->cap * waterfall_cell_size(w));
	w->cell = more;
	w->cap = cap;
	return true;
}

/* Returns a cell for a new key; NULL if memory is short. */
static double *new_cell(struct waterfall *w, uint32_t key)
{
	double *cell;

	if ((w->used * 2 >= w->size && !grow_places(w)) || (w->used == w->cap && !grow_cells(w)))
		return NULL;
	cell = cell_at(w, w->used);
	memset(cell, 0, waterfall_cell_size(w));
	*find(w->place, w->size, key) = key << CELL_BITS | w->used++;
	return cell;
}

/* Returns the cell of a key, made if needed; NULL if memory is short. */
static double *cell_of(struct waterfall *w, uint32_t bars, uint32_t key)
{
	const uint32_t *place = w->size ? find(w->place, w->size, key) : NULL;

	w->bars = (uint8_t)bars;
	return place && *place ? cell_at(w, *place & CELL_MASK) : new_cell(w, key);
}

static void add(
	struct waterfall *w, uint32_t bars, const uint64_t bar[], uint64_t total, uint64_t weight)
{
	double *cell;

	if (w->pool && w->coarse < w->pool->coarse)
		waterfall_coarsen(w, w->pool->coarse);
	cell = cell_of(w, bars, key_of(total, w->coarse));
	if (!cell)
		return;
	cell[SAMPLES]++;
	cell[WEIGHT] += (double)weight;
	cell[TOTAL] += (double)total * (double)weight;
	for (uint32_t b = 0; b < bars; b++)
		cell[FIRST_BAR + b] += (double)bar[b] * (double)weight;
}

/* Adds the samples of a cell. */
static void add_late(struct waterfall *w, uint32_t bars, const struct dist_cell *late)
{
	for (uint32_t i = 0; i < DIST_CELL && late->word[i];) {
		uint32_t head = late->word[i++];
		uint64_t bar[LATE_BARS], total = 0;

		for (uint32_t b = 0; b < bars; b++)
			total += bar[b] = head >> b & 1 ? late->word[i++] : 0;
		add(w, bars, bar, total, head >> LATE_BARS);
	}
}

static void settle(struct waterfall *w)
{
	struct dist_cell *c = w->late;

	account(w, 0, w->late_cells * sizeof(*c));
	w->late = NULL;
	w->late_cells = w->late_left = 0;
	while (c) {
		add_late(w, w->bars, c);
		c = dist_cell_drop(w->pool, c);
	}
}

/* Makes room for so many words in the first cell. Returns false if memory is short. */
static bool make_room(struct waterfall *w, uint32_t words)
{
	struct dist_cell *c;

	if (w->late_left >= words)
		return true;
	if (w->late_cells >= (w->pool->coarse ? LATE_WIDE : LATE_MOST))
		settle(w);
	c = dist_cell_new(w->pool);
	if (!c)
		return false;
	account(w, sizeof(*c), 0);
	memset(c, 0, sizeof(*c));
	c->before = w->late;
	w->late = c;
	w->late_cells++;
	w->late_left = DIST_CELL;
	return true;
}

/* Has a sample wait. Returns false if it cannot. */
static bool put_late(
	struct waterfall *w, uint32_t bars, const uint64_t bar[], uint64_t total, uint64_t weight)
{
	uint32_t head = (uint32_t)weight << LATE_BARS, words = 1, *to;
	uint64_t sum = 0, most = 0;

	if (!w->pool || bars > LATE_BARS || weight > LATE_WEIGHT_MAX || !weight ||
		total > UINT32_MAX)
		return false;
	for (uint32_t b = 0; b < bars; b++) {
		sum += bar[b];
		most |= bar[b];
		head |= (uint32_t)(bar[b] != 0) << b;
		words += bar[b] != 0;
	}
	if (sum != total || most > UINT32_MAX || !make_room(w, words))
		return false;
	to = &w->late->word[DIST_CELL - w->late_left];
	*to++ = head;
	for (uint32_t b = 0; b < bars; b++)
		if (bar[b])
			*to++ = (uint32_t)bar[b];
	w->late_left = (uint8_t)(w->late_left - words);
	w->bars = (uint8_t)bars;
	return true;
}

void waterfall_add(
	struct waterfall *w, uint32_t bars, const uint64_t bar[], uint64_t total, uint64_t weight)
{
	if (!put_late(w, bars, bar, total, weight))
		add(w, bars, bar, total, weight);
}

void waterfall_trim(struct waterfall *w)
{
	if (w->pool && w->pool->coarse && w->late_cells > LATE_WIDE)
		settle(w);
}

void waterfall_add_all(struct waterfall *w, const struct waterfall *from)
{
	uint32_t width = from->bars + FIRST_BAR;

	for (const struct dist_cell *c = from->late; c; c = c->before)
		add_late(w, from->bars, c);
	for (uint32_t i = 0; i < from->size; i++) {
		uint32_t place = from->place[i];
		const double *have = cell_at(from, place & CELL_MASK);
		uint32_t key = place >> CELL_BITS;
		double *cell;

		if (!place)
			continue;
		if (w->coarse != from->coarse)
			key = key_of((uint64_t)(have[TOTAL] / have[WEIGHT]), w->coarse);
		cell = cell_of(w, from->bars, key);
		for (uint32_t k = 0; cell && k < width; k++)
			cell[k] += have[k];
	}
}

void waterfall_coarsen(struct waterfall *w, unsigned int coarse)
{
	struct waterfall old = *w;

	coarse = coarse * 2 < WATERFALL_COARSEST ? coarse * 2 : WATERFALL_COARSEST;
	if (coarse <= w->coarse || w->used <= FEW_CELLS)
		return;
	old.late = NULL;
	old.late_cells = 0;
	w->cell = NULL;
	w->place = NULL;
	w->size = w->used = w->cap = 0;
	w->coarse = (uint8_t)coarse;
	for (uint32_t i = 0; i < old.size; i++) {
		uint32_t place = old.place[i];
		uint64_t begin =
			place ? begin_of_key(place >> CELL_BITS, NARROWEST + old.coarse) : 0;
		double *cell = place ? cell_of(w, old.bars, key_of(begin, coarse)) : NULL;

		for (uint32_t k = 0; cell && k < w->bars + (uint32_t)FIRST_BAR; k++)
			cell[k] += cell_at(&old, place & CELL_MASK)[k];
	}
	waterfall_free(&old);
}

static int by_total(const void *a, const void *b)
{
	const double *x = *(const double *const *)a, *y = *(const double *const *)b;
	double p = x[TOTAL] / x[WEIGHT], q = y[TOTAL] / y[WEIGHT];

	return (p > q) - (p < q);
}

/* Returns the filled bins in order, and their weight; NULL if there are none. */
static const double **in_order(const struct waterfall *w, double *weight)
{
	const double **p = w->used ? mg_malloc(w->used * sizeof(*p)) : NULL;

	*weight = 0;
	if (!p)
		return NULL;
	for (uint32_t i = 0; i < w->used; i++) {
		p[i] = cell_at(w, i);
		*weight += p[i][WEIGHT];
	}
	qsort(p, w->used, sizeof(*p), by_total);
	return p;
}

/* Computes it of bins alone. */
static double bins_at(const struct waterfall *w, double quantile, double bar[], double *total)
{
	double all, below = 0, taken = 0, samples = 0;
	const double **bins = in_order(w, &all);
	double from = (quantile - HALF_WINDOW) * all, to = (quantile + HALF_WINDOW) * all;

	*total = 0;
	memset(bar, 0, w->bars * sizeof(*bar));
	for (uint32_t i = 0; bins && i < w->used; i++) {
		const double *cell = bins[i];
		double begin = below > from ? below : from, end, share;

		below += cell[WEIGHT];
		end = below < to ? below : to;
		if (end <= begin)
			continue;
		share = (end - begin) / cell[WEIGHT];
		taken += end - begin;
		samples += cell[SAMPLES] * share;
		*total += cell[TOTAL] * share;
		for (uint32_t b = 0; b < w->bars; b++)
			bar[b] += cell[FIRST_BAR + b] * share;
	}
	free(bins);
	if (taken <= 0)
		return 0;
	*total /= taken;
	for (uint32_t b = 0; b < w->bars; b++)
		bar[b] /= taken;
	return samples;
}

double waterfall_at(const struct waterfall *w, double quantile, double bar[], double *total)
{
	struct waterfall all = {.bars = w->bars, .coarse = w->coarse};
	double samples;

	if (!w->late)
		return bins_at(w, quantile, bar, total);
	waterfall_add_all(&all, w); /* the samples go on waiting, as bins take more memory */
	samples = bins_at(&all, quantile, bar, total);
	waterfall_free(&all);
	return samples;
}

size_t waterfall_memory(const struct waterfall *w)
{
	return w->size * sizeof(*w->place) + w->cap * waterfall_cell_size(w) +
	       w->late_cells * sizeof(*w->late);
}

void waterfall_free(struct waterfall *w)
{
	struct dist_pool *pool = w->pool;

	account(w, 0, waterfall_memory(w));
	while (w->late)
		w->late = dist_cell_drop(pool, w->late);
	free(w->place);
	free(w->cell);
	memset(w, 0, sizeof(*w));
	w->pool = pool;
}
