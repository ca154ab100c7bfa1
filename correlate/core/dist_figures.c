/* SPDX-License-Identifier: MIT */
/* What a distribution tells: by its bins in order of value. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "alloc.h"
#include "dist_bins.h"

/* A bin, told by its place in the order of values. */
struct place {
	uint32_t rank, bin;
};
#define FEW_PLACES 32

static uint32_t rank_of(uint32_t key)
{
	return key & BELOW ? BELOW - (key & ~BELOW) : BELOW + key;
}

#define RADIX_BITS 9 /* two of these are a rank's */

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

/* The bins in order of value, `n` of them; NULL if there are none. */
static struct place *places(const struct dist *d, uint32_t *n)
{
	struct place *p;

	*n = 0;
	dist_settle(d);
	p = d->n ? mg_malloc((d->used + 1) * 2 * sizeof(*p)) : NULL;
	if (!p)
		return NULL;
	for (uint32_t i = 0; i < d->size; i++)
		if (d->bins[i].key)
			p[(*n)++] = (struct place){rank_of(d->bins[i].key), i};
	if (*n > FEW_PLACES) {
		sort_by_digit(p, p + *n, *n, 0);
		sort_by_digit(p + *n, p, *n, RADIX_BITS);
	} else {
		sort_few(p, *n);
	}
	return p;
}

struct point {
	double value; /* mean of the bin */
	double weight;
};

static uint64_t weight_of(const struct dist *d, struct place p)
{
	const struct dist_bin *b = &d->bins[p.bin];
	const struct dist_wide *w = wide_of(d, b->key);

	return b->weight + (w ? w->weight : 0);
}

static double value_of(const struct dist *d, struct place p)
{
	const struct dist_bin *b = &d->bins[p.bin];
	const struct dist_wide *w = wide_of(d, b->key);
	uint64_t weight = b->weight + (w ? w->weight : 0);
	unsigned __int128 above = b->above + (w ? w->above : 0);
	unsigned __int128 origin = (unsigned __int128)origin_of(d, b->key) * weight;

	return (double)(b->key & BELOW ? origin - above : origin + above) / (double)weight;
}

/* The same with what they hold. */
static struct point *points(const struct dist *d, uint32_t *n)
{
	struct place *p = places(d, n);
	struct point *q = p ? mg_malloc((*n + 1) * sizeof(*q)) : NULL;

	for (uint32_t i = 0; q && i < *n; i++)
		q[i] = (struct point){value_of(d, p[i]), (double)weight_of(d, p[i])};
	free(p);
	if (!q)
		*n = 0;
	return q;
}

/* The one that ranks there; `n` is not 0. */
static struct place place_at(const struct dist *d, const struct place *p, uint32_t n, double rank)
{
	double below = 0;

	for (uint32_t i = 0; i < n; i++) {
		below += (double)weight_of(d, p[i]);
		if (below >= rank)
			return p[i];
	}
	return p[n - 1];
}

double dist_quantile(const struct dist *d, double q)
{
	uint32_t n;
	struct place *p = places(d, &n);
	double v;

	if (!p)
		return 0;
	v = n ? value_of(d, place_at(d, p, n, ceil(q * (double)d->weight - 1e-9))) : 0;
	free(p);
	return v;
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
