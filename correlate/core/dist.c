/* SPDX-License-Identifier: MIT */
#include "dist.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define FEWEST_BINS 4  /* a short connection has thirty distributions of a few values */
#define FEW_BINS    16 /* which may be nearly full: looking through all of them takes no longer */
#define LINE        64 /* of the cache, bytes: in small ones it would take more than it saves */
#define EXACT_BITS  11 /* values below 2^11 have a bin each */

static uint32_t bin_of(uint64_t v)
{
	int e;

	if (v < 1u << EXACT_BITS)
		return (uint32_t)v;
	e = 63 - __builtin_clzll(v) - (EXACT_BITS - 1);
	return ((uint32_t)e << (EXACT_BITS - 1)) + (uint32_t)(v >> e);
}

/* What the bin of a value begins with. */
static uint64_t begin_of(uint32_t bin)
{
	uint32_t e = bin < 1u << EXACT_BITS ? 0 : (bin >> (EXACT_BITS - 1)) - 1;

	return (uint64_t)(bin - (e << (EXACT_BITS - 1))) << e;
}

#define BELOW      (1u << 17)
#define WEIGHT_MAX ((1ull << 46) - 1)

static uint32_t key_of(const struct dist *d, uint64_t v)
{
	return v < d->near ? (bin_of(d->near - v) + 1) | BELOW : bin_of(v - d->near) + 1;
}

/* Values of a bin are told by their distance from this, which is towards greater ones or smaller.
 */
static uint64_t origin_of(const struct dist *d, uint32_t key)
{
	uint64_t begin = begin_of((key & ~BELOW) - 1);

	return key & BELOW ? d->near - begin : d->near + begin;
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
	uint32_t size = d->size ? d->size * 2 : FEWEST_BINS;
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
	d->size = size;
	return true;
}

/* One is always free, for find() to end at. */
static bool is_full(const struct dist *d)
{
	return d->size <= FEW_BINS ? d->used + 1 >= d->size : d->used * 4 >= d->size * 3;
}

/* What bins have no room for. */
struct dist_wide {
	struct dist_wide *next;
	uint32_t key;
	uint64_t weight;
	unsigned __int128 above;
};

static struct dist_wide *wide_of(const struct dist *d, uint32_t key)
{
	struct dist_wide *w = d->wide;

	while (w && w->key != key)
		w = w->next;
	return w;
}

/* The bin is emptied, and what is added goes past it. */
static void add_wide(struct dist *d, struct dist_bin *b, unsigned __int128 above, uint64_t weight)
{
	struct dist_wide *w = wide_of(d, b->key);

	if (!w) {
		w = calloc(1, sizeof(*w));
		if (!w)
			return;
		w->next = d->wide;
		w->key = b->key;
		d->wide = w;
	}
	w->weight += b->weight + weight;
	w->above += b->above + above;
	b->weight = 0;
	b->above = 0;
}

/* Into a bin: a weight, and how far above the bin's begin it lies, times the weight. */
static void take_bin(struct dist *d, uint32_t key, unsigned __int128 above, uint64_t weight)
{
	struct dist_bin *b;

	if (is_full(d) && !grow(d))
		return;
	b = find(d->bins, d->size, key);
	if (!b->key) {
		b->key = key;
		d->used++;
	}
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
	uint64_t origin = origin_of(d, d->held_key), weight = d->held_weight;
	uint64_t distance = d->held_key & BELOW ? origin - d->held : d->held - origin;

	d->held_weight = 0;
	take_bin(d, d->held_key, (unsigned __int128)distance * weight, weight);
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
	d->held_key = key_of(d, value);
	if (d->size)
		__builtin_prefetch(&d->bins[place_of(d->size, d->held_key)], 1);
}

void dist_add_near(struct dist *d, uint64_t value, uint64_t weight)
{
	if (!d->n)
		d->near = value;
	dist_add(d, value, weight);
}

void dist_add_all(struct dist *d, const struct dist *from)
{
	if (!from->n)
		return;
	for (uint32_t i = 0; i < from->size; i++)
		if (from->bins[i].key)
			take_bin(d, from->bins[i].key, from->bins[i].above, from->bins[i].weight);
	for (const struct dist_wide *w = from->wide; w; w = w->next)
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
	while (d->wide) {
		struct dist_wide *w = d->wide;

		d->wide = w->next;
		free(w);
	}
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

/* A bin, told by its place in the order of values. */
struct place {
	uint32_t rank, bin; /* of what is held and has no bin yet: HELD */
};
#define HELD       UINT32_MAX
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
	struct place *p = d->n ? malloc((d->used + 1) * 2 * sizeof(*p)) : NULL;
	bool held = d->held_weight != 0;

	*n = 0;
	if (!p)
		return NULL;
	for (uint32_t i = 0; i < d->size; i++)
		if (d->bins[i].key) {
			p[(*n)++] = (struct place){rank_of(d->bins[i].key), i};
			held = held && d->bins[i].key != d->held_key;
		}
	if (held) /* the first of its bin */
		p[(*n)++] = (struct place){rank_of(d->held_key), HELD};
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
	const struct dist_bin *b = p.bin == HELD ? NULL : &d->bins[p.bin];
	const struct dist_wide *w = b ? wide_of(d, b->key) : NULL;
	uint64_t held = !b || b->key == d->held_key ? d->held_weight : 0;

	return (b ? b->weight : 0) + (w ? w->weight : 0) + held;
}

static double value_of(const struct dist *d, struct place p)
{
	const struct dist_bin *b = p.bin == HELD ? NULL : &d->bins[p.bin];
	const struct dist_wide *w = b ? wide_of(d, b->key) : NULL;
	uint64_t weight = b ? b->weight + (w ? w->weight : 0) : 0;
	unsigned __int128 above = b ? b->above + (w ? w->above : 0) : 0;
	unsigned __int128 origin = b ? (unsigned __int128)origin_of(d, b->key) * weight : 0, sum;

	if (!b)
		return (double)d->held;
	sum = b->key & BELOW ? origin - above : origin + above;
	if (d->held_weight && d->held_key == b->key) {
		weight += d->held_weight;
		sum += (unsigned __int128)d->held * d->held_weight;
	}
	return (double)sum / (double)weight;
}

/* The same with what they hold. */
static struct point *points(const struct dist *d, uint32_t *n)
{
	struct place *p = places(d, n);
	struct point *q = p ? malloc((*n + 1) * sizeof(*q)) : NULL;

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
