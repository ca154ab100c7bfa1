/* SPDX-License-Identifier: MIT */
#include "waterfall.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FEWEST_BINS 4
#define EXACT_BITS  8 /* values below 2^8 have a bin each */
#define HALF_WINDOW 0.005

enum { SAMPLES, WEIGHT, TOTAL, FIRST_BAR };

static uint32_t key_of(uint64_t v)
{
	int e;

	if (v < 1u << EXACT_BITS)
		return (uint32_t)v + 1;
	e = 63 - __builtin_clzll(v) - (EXACT_BITS - 1);
	return ((uint32_t)e << (EXACT_BITS - 1)) + (uint32_t)(v >> e) + 1;
}

static uint32_t place(const uint32_t *keys, uint32_t size, uint32_t key)
{
	uint32_t i = key * 2654435769u & (size - 1);

	while (keys[i] && keys[i] != key)
		i = (i + 1) & (size - 1);
	return i;
}

static bool grow(struct waterfall *w)
{
	uint32_t size = w->size ? w->size * 2 : FEWEST_BINS, width = w->bars + FIRST_BAR;
	uint32_t *key = calloc(size, sizeof(*key));
	double *cell = calloc((size_t)size * width, sizeof(*cell));

	if (!key || !cell) {
		free(key);
		free(cell);
		return false;
	}
	for (uint32_t i = 0; i < w->size; i++) {
		uint32_t to;

		if (!w->key[i])
			continue;
		to = place(key, size, w->key[i]);
		key[to] = w->key[i];
		memcpy(cell + (size_t)to * width, w->cell + (size_t)i * width,
			width * sizeof(*cell));
	}
	free(w->key);
	free(w->cell);
	w->key = key;
	w->cell = cell;
	w->size = size;
	return true;
}

/* One is always free, for place() to end at; looking through a few takes no longer. */
static bool is_full(const struct waterfall *w)
{
	return w->size <= 16 ? w->used + 1 >= w->size : w->used * 2 >= w->size;
}

/* NULL: no memory. */
static double *cell_of(struct waterfall *w, uint32_t bars, uint32_t key)
{
	uint32_t i;

	w->bars = bars;
	if (is_full(w) && !grow(w))
		return NULL;
	i = place(w->key, w->size, key);
	if (!w->key[i]) {
		w->key[i] = key;
		w->used++;
	}
	return w->cell + (size_t)i * (bars + FIRST_BAR);
}

void waterfall_add(
	struct waterfall *w, uint32_t bars, const uint64_t bar[], uint64_t total, uint64_t weight)
{
	double *cell = cell_of(w, bars, key_of(total));

	if (!cell)
		return;
	cell[SAMPLES]++;
	cell[WEIGHT] += (double)weight;
	cell[TOTAL] += (double)total * (double)weight;
	for (uint32_t b = 0; b < bars; b++)
		cell[FIRST_BAR + b] += (double)bar[b] * (double)weight;
}

void waterfall_add_all(struct waterfall *w, const struct waterfall *from)
{
	uint32_t width = from->bars + FIRST_BAR;

	for (uint32_t i = 0; i < from->size; i++) {
		double *cell = from->key[i] ? cell_of(w, from->bars, from->key[i]) : NULL;

		for (uint32_t k = 0; cell && k < width; k++)
			cell[k] += from->cell[(size_t)i * width + k];
	}
}

static int by_total(const void *a, const void *b)
{
	const double *x = *(const double *const *)a, *y = *(const double *const *)b;
	double p = x[TOTAL] / x[WEIGHT], q = y[TOTAL] / y[WEIGHT];

	return (p > q) - (p < q);
}

/* The filled bins in order, and their weight; NULL if there are none. */
static const double **in_order(const struct waterfall *w, double *weight)
{
	const double **p = w->used ? malloc(w->used * sizeof(*p)) : NULL;
	uint32_t n = 0;

	*weight = 0;
	if (!p)
		return NULL;
	for (uint32_t i = 0; i < w->size; i++) {
		if (!w->key[i])
			continue;
		p[n] = w->cell + (size_t)i * (w->bars + FIRST_BAR);
		*weight += p[n++][WEIGHT];
	}
	qsort(p, n, sizeof(*p), by_total);
	return p;
}

double waterfall_at(const struct waterfall *w, double quantile, double bar[], double *total)
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

void waterfall_free(struct waterfall *w)
{
	free(w->key);
	free(w->cell);
	memset(w, 0, sizeof(*w));
}
