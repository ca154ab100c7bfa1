/* SPDX-License-Identifier: MIT */
/* Intervals: exact ones of small samples, and how often they cover the true value. */
#include "bootstrap.h"
#include "unit.h"

static struct block_sample sample(const struct block_sums *v, size_t n)
{
	return (struct block_sample){.block = v, .n = n};
}

static void a_figure_is_the_ratio_of_sums(void **unused)
{
	const struct block_sums v[] = {{6, 2, 10, 1}, {0, 0, 0, 0}, {3, 1, 20, 5}};
	struct block_sample s = sample(v, 3);

	(void)unused;
	assert_near(block_figure(&s), 3, 1e-12);
	s.is_quotient = true; /* 3 / (30 / 6) */
	assert_near(block_figure(&s), 0.6, 1e-12);
	s = sample(v + 1, 1);
	assert_true(isnan(block_figure(&s)));
}

/* Two values 0 and 1 drawn twice: the mean is 0, 1/2 and 1 with 1/4, 1/2 and 1/4. */
static void quantiles_of_two_values_are_known(void **unused)
{
	const struct block_sums v[] = {{0, 1, 0, 0}, {1, 1, 0, 0}};
	struct block_sample s = sample(v, 2);
	struct interval in;

	(void)unused;
	assert_true(bootstrap_difference(&s, 1, NULL, 1, BOOTSTRAP_RESAMPLES, 0.2, &in));
	assert_near(in.low, 0, 0);
	assert_near(in.high, 1, 0);
	assert_true(bootstrap_difference(&s, 1, NULL, 1, BOOTSTRAP_RESAMPLES, 0.3, &in));
	assert_near(in.low, 0.5, 0);
	assert_near(in.high, 0.5, 0);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Compares all 6^6 resamples of six values with as many random ones. */
static void a_small_sample_agrees_with_all_its_draws(void **unused)
{
	enum { N = 6, ALL = 46656 };
	const struct block_sums v[N] = {{1.3, 1, 0, 0}, {2.1, 2, 0, 0}, {0.7, 1, 0, 0},
		{9.9, 3, 0, 0}, {4.0, 1, 0, 0}, {2.5, 2, 0, 0}};
	struct block_sample s = sample(v, N);
	double *all = malloc(ALL * sizeof(*all));
	struct interval in;

	(void)unused;
	assert_non_null(all);
	for (int i = 0; i < ALL; i++) {
		double a = 0, b = 0;

		for (int k = 0, which = i; k < N; k++, which /= N) {
			a += v[which % N].a;
			b += v[which % N].b;
		}
		all[i] = a / b;
	}
	qsort(all, ALL, sizeof(*all), ascending);
	assert_true(bootstrap_difference(&s, 1, NULL, 1, 200000, 0.025, &in));
	assert_near(in.low, all[ALL / 40], 0.01);
	assert_near(in.high, all[ALL - ALL / 40], 0.02);
	free(all);
}

/*
 * SciPy 1.10.1: stats.bootstrap((a, b), lambda a, b, axis: a.sum(axis) / b.sum(axis), paired=True,
 * vectorized=True, n_resamples=400000, method="percentile"), the mean of five; the last digits
 * vary.
 */
static void intervals_agree_with_scipy(void **unused)
{
	struct block_sums v[20], u[20];
	struct block_sample s = sample(v, COUNT(v)), t = sample(u, COUNT(u));
	struct interval in;

	(void)unused;
	for (int i = 0; i < 20; i++) {
		v[i] = (struct block_sums){(i * 7 % 11 + 1) * 1.5 + i % 3, i * 5 % 7 + 1, 0, 0};
		u[i] = (struct block_sums){(i * 3 % 13 + 2) * 1.1, i * 2 % 5 + 1, 0, 0};
	}
	assert_true(bootstrap_difference(&s, 1, NULL, 1, 400000, 0.025, &in));
	assert_near(in.low, 1.7245, 0.005);
	assert_near(in.high, 3.4665, 0.01);
	assert_true(bootstrap_difference(&s, 1, NULL, 1, 400000, 0.05, &in));
	assert_near(in.low, 1.8178, 0.005);
	assert_near(in.high, 3.2631, 0.01);
	/* two samples, each resampled by itself: NumPy with 2,000,000 resamples */
	assert_true(bootstrap_difference(&s, 1, &t, 1, 400000, 0.025, &in));
	assert_near(in.low, -1.4317, 0.01);
	assert_near(in.high, 0.7651, 0.01);
}

static void the_same_numbers_give_the_same_interval(void **unused)
{
	const struct block_sums v[] = {{1, 1, 0, 0}, {2, 1, 0, 0}, {5, 1, 0, 0}, {3, 1, 0, 0}};
	struct block_sample s = sample(v, 4);
	struct interval one, two;

	(void)unused;
	assert_true(bootstrap_difference(&s, 1, &s, 1, 500, 0.025, &one));
	assert_true(bootstrap_difference(&s, 1, &s, 1, 500, 0.025, &two));
	assert_near(one.low, two.low, 0);
	assert_near(one.high, two.high, 0);
	assert_true(one.low < 0 && one.high > 0); /* a sample does not differ from itself */
}

/* A run of the full length only rotates the sample: nothing changes. */
static void runs_keep_their_order(void **unused)
{
	const struct block_sums v[] = {{1, 1, 0, 0}, {2, 1, 0, 0}, {6, 1, 0, 0}};
	struct block_sample s = sample(v, 3);
	struct interval in;

	(void)unused;
	assert_true(bootstrap_difference(&s, 3, NULL, 1, 500, 0.025, &in));
	assert_near(in.low, 3, 1e-12);
	assert_near(in.high, 3, 1e-12);
	assert_int_equal(bootstrap_run(1), 1);
	assert_int_equal(bootstrap_run(27), 5);
	assert_int_equal(bootstrap_run(64), 6);
}

static void too_many_resamples_without_a_figure_give_no_interval(void **unused)
{
	const struct block_sums v[] = {{1, 1, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
	struct block_sample s = sample(v, 3), none = sample(v, 0);
	struct interval in;

	(void)unused;
	assert_false(bootstrap_difference(&s, 1, NULL, 1, 500, 0.025, &in));
	assert_false(bootstrap_difference(&none, 1, NULL, 1, 500, 0.025, &in));
}

/* Student's t of 4 degrees is 2.7764 at 97.5 %; Phi(-sqrt(5/4) * 2.7764) = 0.00095. */
static void few_values_widen_the_interval(void **unused)
{
	(void)unused;
	assert_near(bootstrap_tail(0.95, 1e9), 0.025, 1e-6);
	assert_near(bootstrap_tail(0.95, 5), 0.000953, 1e-5);
	assert_near(bootstrap_tail(0.95, 16), 0.01388, 1e-4);
	assert_near(bootstrap_tail(0.95, 1), 0, 0);
}

static double uniform(uint64_t *state)
{
	return ((double)(unit_random(state) >> 11) + 0.5) / 9007199254740992.0;
}

enum { TRIALS = 600, BLOCKS = 64 };

/*
 * Makes blocks with some 5 to 40 exponential values of mean 1, like calls; `memory` is the share of
 * a block's own mean that the next one keeps.
 */
static void make(struct block_sums v[BLOCKS], double memory, uint64_t *state)
{
	double drift = 0;

	for (int i = 0; i < BLOCKS; i++) {
		int n = 5 + (int)(uniform(state) * 35);

		drift = memory * drift + (uniform(state) - 0.5) * (memory > 0);
		v[i] = (struct block_sums){0, n, 0, 0};
		for (int k = 0; k < n; k++)
			v[i].a += drift - log(uniform(state));
	}
}

/* Returns the share of trials whose interval contains `difference`. */
static double covered(double memory, double difference, uint64_t seed)
{
	struct block_sums x[BLOCKS], y[BLOCKS];
	struct block_sample a = sample(x, BLOCKS), b = sample(y, BLOCKS);
	size_t run = bootstrap_run(BLOCKS);
	double tail = bootstrap_tail(0.95, (double)BLOCKS / (double)run);
	int in = 0;

	for (int i = 0; i < TRIALS; i++) {
		struct interval t;

		make(x, memory, &seed);
		make(y, memory, &seed);
		for (int k = 0; k < BLOCKS; k++)
			x[k].a += difference * x[k].b;
		assert_true(bootstrap_difference(&a, run, &b, run, 500, tail, &t));
		in += t.low <= difference && difference <= t.high;
	}
	return (double)in / TRIALS;
}

static void an_interval_of_95_percent_covers_about_that(void **unused)
{
	double independent = covered(0, 0.3, 1), dependent = covered(0.5, 0.3, 2);

	(void)unused;
	print_message("covered: %.3f independent, %.3f dependent\n", independent, dependent);
	assert_near(independent, 0.95, 0.03);
	assert_near(dependent, 0.95, 0.04);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_figure_is_the_ratio_of_sums),
		cmocka_unit_test(quantiles_of_two_values_are_known),
		cmocka_unit_test(a_small_sample_agrees_with_all_its_draws),
		cmocka_unit_test(intervals_agree_with_scipy),
		cmocka_unit_test(the_same_numbers_give_the_same_interval),
		cmocka_unit_test(runs_keep_their_order),
		cmocka_unit_test(too_many_resamples_without_a_figure_give_no_interval),
		cmocka_unit_test(few_values_widen_the_interval),
		cmocka_unit_test(an_interval_of_95_percent_covers_about_that),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
