/* SPDX-License-Identifier: MIT */
#include "bootstrap.h"

#include <math.h>
#include <stdlib.h>

#include "alloc.h"
#include "random.h"

static double figure(const struct block_sums *sum, bool is_quotient)
{
	if (!(sum->b > 0) || (is_quotient && !(sum->c > 0 && sum->d > 0)))
		return NAN;
	return is_quotient ? sum->a / sum->b / (sum->c / sum->d) : sum->a / sum->b;
}

static void add(struct block_sums *to, const struct block_sums *b)
{
	to->a += b->a;
	to->b += b->b;
	to->c += b->c;
	to->d += b->d;
}

double block_figure(const struct block_sample *s)
{
	struct block_sums sum = {0};

	for (size_t i = 0; i < s->n; i++)
		add(&sum, &s->block[i]);
	return figure(&sum, s->is_quotient);
}

/*
 * Returns the length of a run: proportional to the cube root, which is optimal (Hall, Horowitz &
 * Jing 1995). The factor depends on how strongly blocks depend on each other; too long costs less
 * than too short.
 */
size_t bootstrap_run(size_t n)
{
	size_t run = (size_t)(1.5 * cbrt((double)n) + 0.5);

	return run < n ? run : n;
}

/*
 * Returns the upper quantile of the normal distribution by bisection; it is called a few times
 * only.
 */
static double normal_quantile(double tail)
{
	double low = 0, high = 40;

	for (int i = 0; i < 100; i++) {
		double mid = (low + high) / 2;

		if (erfc(mid / M_SQRT2) / 2 > tail)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/*
 * Returns that of Student's distribution, by its expansion around the normal one (Abramowitz &
 * Stegun 26.7.5).
 */
static double student_quantile(double tail, double v)
{
	double z = normal_quantile(tail), z2 = z * z;
	double g1 = z * (z2 + 1) / 4;
	double g2 = z * ((5 * z2 + 16) * z2 + 3) / 96;
	double g3 = z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / 384;
	double g4 = z * ((((79 * z2 + 776) * z2 + 1482) * z2 - 1920) * z2 - 945) / 92160;

	return z + g1 / v + g2 / (v * v) + g3 / (v * v * v) + g4 / (v * v * v * v);
}

double bootstrap_tail(double level, double n)
{
	double tail = (1 - level) / 2;

	return n > 2 ? erfc(sqrt(n / (n - 1)) * student_quantile(tail, n - 1) / M_SQRT2) / 2 : 0;
}

/*
 * Returns the figure of one resample: runs of blocks from random positions, with the first block
 * following the last, until there are as many as before.
 */
static double draw(const struct block_sample *s, size_t run, uint64_t *state)
{
	struct block_sums sum = {0};

	for (size_t left = s->n; left;) {
		size_t at = random_below(state, s->n);

		for (size_t i = 0; i < run && left; i++, left--) {
			add(&sum, &s->block[at]);
			if (++at == s->n)
				at = 0;
		}
	}
	return figure(&sum, s->is_quotient);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Returns a quantile, interpolated between the two nearest values (Hyndman & Fan 1996, type 7). */
static double quantile(const double *v, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t i = (size_t)at;

	return i + 1 < n ? v[i] + (at - (double)i) * (v[i + 1] - v[i]) : v[n - 1];
}

bool bootstrap_difference(const struct block_sample *x, size_t run_x, const struct block_sample *y,
	size_t run_y, uint32_t resamples, double tail, struct interval *out)
{
	double *v = x->n && (!y || y->n) ? mg_malloc(resamples * sizeof(*v)) : NULL;
	uint64_t state = RANDOM_SEED;
	size_t n = 0;
	bool ok;

	if (!v)
		return false;
	for (uint32_t i = 0; i < resamples; i++) {
		double d = draw(x, run_x, &state);

		if (y)
			d -= draw(y, run_y, &state);
		if (!isnan(d))
			v[n++] = d;
	}
	ok = (double)n >= 0.95 * (double)resamples && n;
	if (ok) {
		qsort(v, n, sizeof(*v), ascending);
		*out = (struct interval){quantile(v, n, tail), quantile(v, n, 1 - tail)};
	}
	free(v);
	return ok;
}
