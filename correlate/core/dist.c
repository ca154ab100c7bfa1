/* SPDX-License-Identifier: MIT */
#include "dist.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FEWEST_BINS 4  /* a short connection has a dozen distributions of a value or two */
#define EXACT_BITS  11 /* values below 2^11 have a bin each */

static uint32_t bin_of(uint64_t v)
{
	int e;

	if (v < 1u << EXACT_BITS)
		return (uint32_t)v;
	e = 63 - __builtin_clzll(v) - (EXACT_BITS - 1);
	return ((uint32_t)e << (EXACT_BITS - 1)) + (uint32_t)(v >> e);
}

#define BELOW (1u << 31)

static uint32_t key_of(const struct dist *d, uint64_t v)
{
	return v < d->near ? (bin_of(d->near - v) + 1) | BELOW : bin_of(v - d->near) + 1;
}

static struct dist_bin *find(struct dist_bin *bins, uint32_t size, uint32_t key)
{
	uint32_t i = key * 2654435769u & (size - 1);

	while (bins[i].key && bins[i].key != key)
		i = (i + 1) & (size - 1);
	return &bins[i];
}

static bool grow(struct dist *d)
{
	uint32_t size = d->size ? d->size * 2 : FEWEST_BINS;
	struct dist_bin *bins = calloc(size, sizeof(*bins));

	if (!bins)
		return false;
	for (uint32_t i = 0; i < d->size; i++)
		if (d->bins[i].key)
			*find(bins, size, d->bins[i].key) = d->bins[i];
	free(d->bins);
	d->bins = bins;
	d->size = size;
	return true;
}

void dist_add(struct dist *d, uint64_t value, uint64_t weight)
{
	struct dist_bin *b;

	if (weight == 0)
		return;
	if (d->used * 2 >= d->size && !grow(d))
		return;
	b = find(d->bins, d->size, key_of(d, value));
	if (!b->key) {
		b->key = key_of(d, value);
		d->used++;
	}
	b->weight += weight;
	b->sum += (unsigned __int128)value * weight;
	d->sum += (unsigned __int128)value * weight;
	d->weight += weight;
	if (d->n == 0 || value < d->min)
		d->min = value;
	if (value > d->max)
		d->max = value;
	d->n++;
}

void dist_add_near(struct dist *d, uint64_t value, uint64_t weight)
{
	if (!d->n)
		d->near = value;
	dist_add(d, value, weight);
}

void dist_free(struct dist *d)
{
	free(d->bins);
	memset(d, 0, sizeof(*d));
}

double dist_mean(const struct dist *d)
{
	return d->weight ? (double)d->sum / (double)d->weight : 0;
}

struct point {
	double value; /* mean of the bin */
	double weight;
};

static int by_value(const void *a, const void *b)
{
	double x = ((const struct point *)a)->value, y = ((const struct point *)b)->value;

	return (x > y) - (x < y);
}

/* The bins in order of value; NULL if there are none. */
static struct point *points(const struct dist *d)
{
	struct point *p = d->used ? malloc(d->used * sizeof(*p)) : NULL;
	uint32_t n = 0;

	if (!p)
		return NULL;
	for (uint32_t i = 0; i < d->size; i++) {
		const struct dist_bin *b = &d->bins[i];

		if (b->key)
			p[n++] = (struct point){
				(double)b->sum / (double)b->weight, (double)b->weight};
	}
	qsort(p, n, sizeof(*p), by_value);
	return p;
}

static double quantile_of(const struct point *p, uint32_t n, double rank)
{
	double below = 0;

	for (uint32_t i = 0; i < n; i++) {
		below += p[i].weight;
		if (below >= rank)
			return p[i].value;
	}
	return n ? p[n - 1].value : 0;
}

double dist_quantile(const struct dist *d, double q)
{
	struct point *p = points(d);
	double v;

	if (!p)
		return 0;
	v = quantile_of(p, d->used, ceil(q * (double)d->weight - 1e-9));
	free(p);
	return v;
}

int dist_quantile_supported(const struct dist *d, double q)
{
	return (1 - q) * (double)d->n >= 10 - 1e-9;
}

double dist_mean_abs_dev(const struct dist *d)
{
	struct point *p = points(d);
	double median, sum = 0;

	if (!p)
		return 0;
	median = quantile_of(p, d->used, ceil((double)d->weight / 2));
	for (uint32_t i = 0; i < d->used; i++)
		sum += fabs(p[i].value - median) * p[i].weight;
	free(p);
	return sum / (double)d->weight;
}

double dist_w1(const struct dist *a, const struct dist *b)
{
	struct point *p = points(a), *q = points(b);
	double area = 0, f = 0, g = 0, at = 0;
	uint32_t i = 0, j = 0;

	while (p && q && (i < a->used || j < b->used)) {
		double x = i < a->used ? p[i].value : INFINITY;
		double y = j < b->used ? q[j].value : INFINITY;
		double here = x < y ? x : y;

		area += fabs(f - g) * (here - at);
		at = here;
		if (x == here)
			f += p[i++].weight / (double)a->weight;
		if (y == here)
			g += q[j++].weight / (double)b->weight;
	}
	free(p);
	free(q);
	return area;
}
