/* SPDX-License-Identifier: MIT */
#include "permutation.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "random.h"

/*
 * Differences below this part of a value are rounding; and so the smallest standard error, in
 * standard deviations of all values.
 */
#define ROUNDING 1e-9

struct group {
	size_t n;
	double sum, squares;
};

static void group_add(struct group *g, double v)
{
	g->n++;
	g->sum += v;
	g->squares += v * v;
}

static double mean_of(const struct group *g)
{
	return g->sum / (double)g->n;
}

static double variance_of(const struct group *g)
{
	double n = (double)g->n, mean = g->sum / n;

	return g->n > 1 ? fmax((g->squares - n * mean * mean) / (n - 1), 0) : NAN;
}

/* Returns the standard error of the difference of the means (Welch 1938). */
static double error_of(const struct group *x, const struct group *y)
{
	return sqrt(variance_of(x) / (double)x->n + variance_of(y) / (double)y->n);
}

/* ---- one figure ---- */

/*
 * Brings a figure's values to mean 0 and standard deviation 1, about which sums of squares are
 * exact. Returns the standard deviation.
 */
static double standardise(const double *value, size_t n, double *out)
{
	struct group all = {0};
	double mean, sd, largest = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(value[i])) {
			group_add(&all, value[i]);
			largest = fmax(largest, fabs(value[i]));
		}
	mean = all.n ? mean_of(&all) : 0;
	all.squares = 0;
	for (size_t i = 0; i < n; i++)
		if (!isnan(value[i]))
			all.squares += (value[i] - mean) * (value[i] - mean);
	sd = all.n > 1 ? sqrt(all.squares / (double)(all.n - 1)) : 0;
	if (sd <= ROUNDING * largest)
		sd = 0;
	for (size_t i = 0; i < n; i++)
		out[i] = isnan(value[i]) ? NAN : sd > 0 ? (value[i] - mean) / sd : 0;
	return sd;
}

static void divide(const double *z, const bool *is_now, size_t n, struct group g[2])
{
	memset(g, 0, 2 * sizeof(*g));
	for (size_t i = 0; i < n; i++)
		if (!isnan(z[i]))
			group_add(&g[is_now[i] ? 0 : 1], z[i]);
}

/* Returns the difference in standard errors; 0 if one of them has fewer than two values. */
static double t_of(const struct group g[2])
{
	if (g[0].n < 2 || g[1].n < 2)
		return 0;
	return fabs(mean_of(&g[0]) - mean_of(&g[1])) / fmax(error_of(&g[0], &g[1]), ROUNDING);
}

static void describe(const struct trial *t, size_t which, const double *z, double sd,
	const bool *is_now, struct trial_figure *f)
{
	const double *value = t->value + which * (t->now + t->before);
	struct group g[2], scaled[2];

	divide(value, is_now, t->now + t->before, g);
	divide(z, is_now, t->now + t->before, scaled);
	f->now_n = g[0].n;
	f->before_n = g[1].n;
	f->now = g[0].n ? mean_of(&g[0]) : NAN;
	f->before = g[1].n ? mean_of(&g[1]) : NAN;
	f->now_sd = sd * sqrt(variance_of(&scaled[0]));
	f->before_sd = sd * sqrt(variance_of(&scaled[1]));
	f->error = g[0].n > 1 && g[1].n > 1 ? sd * error_of(&scaled[0], &scaled[1]) : NAN;
	f->t = t_of(scaled);
}

/* ---- arrangements of the recordings ---- */

/* Returns in how many ways `k` of `n` can be chosen, ARRANGEMENTS_MAX + 1 if there are more. */
static size_t choices(size_t n, size_t k)
{
	double ways = 1;

	for (size_t i = 1; i <= k && ways <= ARRANGEMENTS_MAX; i++)
		ways = ways * (double)(n - k + i) / (double)i;
	return ways > ARRANGEMENTS_MAX ? ARRANGEMENTS_MAX + 1 : (size_t)(ways + 0.5);
}

/* Goes on to the next choice, in the order of binary numbers. */
static void next_choice(bool *in, size_t n)
{
	size_t at = 0, ones = 0;

	while (at + 1 < n && !(in[at] && !in[at + 1]))
		ones += in[at++];
	in[at] = false;
	in[at + 1] = true;
	for (size_t i = 0; i < at; i++)
		in[i] = i < ones;
}

static void random_choice(bool *in, size_t n, uint64_t *state)
{
	for (size_t i = n - 1; i > 0; i--) {
		size_t other = random_below(state, i + 1);
		bool kept = in[i];

		in[i] = in[other];
		in[other] = kept;
	}
}

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* Writes the largest `t` of all figures in each arrangement, the observed one first. */
static void largest_of_each(const struct trial *t, const double *z, bool *is_now, size_t tried,
	bool by_chance, double *largest)
{
	size_t n = t->now + t->before;
	uint64_t state = RANDOM_SEED;
	struct group g[2];

	for (size_t a = 0; a < tried; a++) {
		largest[a] = 0;
		for (size_t f = 0; f < t->figures; f++) {
			divide(z + f * n, is_now, n, g);
			largest[a] = fmax(largest[a], t_of(g));
		}
		if (by_chance)
			random_choice(is_now, n, &state);
		else if (a + 1 < tried)
			next_choice(is_now, n);
	}
}

/* Returns the share of the arrangements, largest first, in which some figure reaches `t`. */
static double chance_of(double t, const double *largest, size_t tried)
{
	size_t n = 0;

	while (n < tried && largest[n] >= t * (1 - ROUNDING))
		n++;
	return (double)n / (double)tried;
}

int permutation_test(const struct trial *t, double level, struct trial_figure *figure,
	struct trial_result *result)
{
	size_t n = t->now + t->before, ways = choices(n, t->now), may;
	size_t tried = ways < ARRANGEMENTS_MAX ? ways : ARRANGEMENTS_MAX;
	double *z = mg_malloc((t->figures * n + 1) * sizeof(*z));
	double *largest = mg_malloc(tried * sizeof(*largest));
	bool *is_now = mg_malloc(n * sizeof(*is_now));
	int err = z && largest && is_now ? 0 : -ENOMEM;

	/* those now stand first, which is also the first choice of next_choice() */
	for (size_t i = 0; i < n && !err; i++)
		is_now[i] = i < t->now;
	for (size_t f = 0; f < t->figures && !err; f++) {
		double sd = standardise(t->value + f * n, n, z + f * n);

		describe(t, f, z + f * n, sd, is_now, &figure[f]);
	}
	if (!err) {
		largest_of_each(t, z, is_now, tried, tried < ways, largest);
		qsort(largest, tried, sizeof(*largest), descending);
		/* arrangements in which a figure may be found by chance */
		may = (size_t)((1 - level) * (double)tried + ROUNDING);
		*result = (struct trial_result){.arrangements = tried,
			.critical = largest[may < tried ? may : tried - 1],
			/* with sides of one size, both may change places */
			.can_tell = t->now > 1 && t->before > 1 &&
				    may >= (t->now == t->before ? 2u : 1u)};
		for (size_t f = 0; f < t->figures; f++)
			figure[f].chance = isnan(figure[f].error)
						   ? NAN
						   : chance_of(figure[f].t, largest, tried);
	}
	free(z);
	free(largest);
	free(is_now);
	return err;
}
