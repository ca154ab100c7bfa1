/* SPDX-License-Identifier: MIT */
/* Results of a distribution, from its bins in order of value. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "alloc.h"
#include "sums/dist.h"
#include "sums/dist_bins.h"

/* A bin with its rank in the order of values. */
struct place {
	uint32_t rank, bin;
};
#define FEW_PLACES 32

static uint32_t rank_of(uint32_t key)
{
	return key & BELOW ? BELOW - (key & ~BELOW) : BELOW + key;
}

#define RADIX_BITS 9 /* two passes sort by rank */

static void sort_by_digit(const struct place *from, struct place *to, uint32_t n, int shift)
{
	uint32_t next[(1 << RADIX_BITS) + 1] = {0}, mask = (1 << RADIX_BITS) - 1;

	for (uint32_t i = 0; i < n; i++)
		next[(from[i].rank >> shift & mask) + 1]++;
	for (uint32_t i = 1; i <= mask; i++)
		next[i] += next[i - 1];
	for (uint32_t i = 0; i < n; i++)
		to[next[from[i].rank >> shift & mask]++] = from[i];
}

static void sort_few(struct place *p, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		struct place x = p[i];
		uint32_t j = i;

		for (; j && p[j - 1].rank > x.rank; j--)
			p[j] = p[j - 1];
		p[j] = x;
	}
}

/* Sorts by value; there is room for as many again. */
static void sort(struct place *p, uint32_t n)
{
	if (n > FEW_PLACES) {
		sort_by_digit(p, p + n, n, 0);
		sort_by_digit(p + n, p, n, RADIX_BITS);
	} else {
		sort_few(p, n);
	}
}

struct point {
	double value; /* mean of the bin */
	double weight;
};

/* Collects the bins in storage order, and their ranks. */
static uint32_t collect(const struct dist *d, struct point *point, struct place *place)
{
	struct dist_walk w = {.d = d};
	struct dist_item item;
	uint32_t n = 0;

	for (; dist_next(&w, &item); n++) {
		point[n] = (struct point){
			(double)dist_item_sum(d, &item) / (double)item.weight, (double)item.weight};
		place[n] = (struct place){rank_of(item.key), n};
	}
	return n;
}

/* Returns the `n` bins in order of value, which the caller frees; NULL if there are none. */
static struct point *points(const struct dist *d, uint32_t *n)
{
	struct point *point, *sorted;
	struct place *place;

	*n = 0;
	dist_settle(d);
	if (!d->n)
		return NULL;
	sorted = mg_malloc((d->used + 1) * sizeof(*sorted));
	point = mg_malloc((d->used + 1) * (sizeof(*point) + 2 * sizeof(*place)));
	if (sorted && point) {
		place = (struct place *)(point + d->used + 1);
		*n = collect(d, point, place);
		sort(place, *n);
		for (uint32_t i = 0; i < *n; i++)
			sorted[i] = point[place[i].bin];
	} else {
		free(sorted);
		sorted = NULL;
	}
	free(point);
	return sorted;
}

/* Returns the value of a rank; `n` is not 0. */
static double value_at(const struct point *p, uint32_t n, double rank)
{
	double below = 0;

	for (uint32_t i = 0; i < n; i++) {
		below += p[i].weight;
		if (below >= rank)
			return p[i].value;
	}
	return p[n - 1].value;
}

double dist_quantile(const struct dist *d, double q)
{
	uint32_t n;
	struct point *p = points(d, &n);
	double v;

	if (!p)
		return 0;
	v = n ? value_at(p, n, ceil(q * (double)d->weight - 1e-9)) : 0;
	free(p);
	return v;
}

double dist_weight_below(const struct dist *d, double value)
{
	uint32_t n;
	struct point *p = points(d, &n);
	double sum = 0;

	for (uint32_t i = 0; p && i < n && p[i].value < value; i++)
		sum += p[i].weight;
	free(p);
	return sum;
}

int dist_quantile_supported(const struct dist *d, double q)
{
	return (1 - q) * (double)d->n >= 10 - 1e-9;
}

double dist_mean_abs_dev(const struct dist *d)
{
	uint32_t n;
	struct point *p = points(d, &n);
	double median = dist_quantile(d, 0.5), sum = 0;

	if (!p)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		sum += fabs(p[i].value - median) * p[i].weight;
	free(p);
	return sum / (double)d->weight;
}

double dist_w1(const struct dist *a, const struct dist *b)
{
	uint32_t n, m, i = 0, j = 0;
	struct point *p = points(a, &n), *q = points(b, &m);
	double area = 0, f = 0, g = 0, at = 0;

	while (p && q && (i < n || j < m)) {
		double x = i < n ? p[i].value : INFINITY;
		double y = j < m ? q[j].value : INFINITY;
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
