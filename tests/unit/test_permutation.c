/* SPDX-License-Identifier: MIT */
/* Several recordings a side: exact small cases, how often chance is taken for a difference, power.
 */
#include "permutation.h"
#include "unit.h"

#define LEVEL 0.95

static void test(const struct trial *t, struct trial_figure *f, struct trial_result *r)
{
	assert_int_equal(permutation_test(t, LEVEL, f, r), 0);
}

/* The means are 2 and 7, variances 1 and 4: the error is sqrt(1/3 + 4/3). */
static void a_difference_is_counted_in_standard_errors(void **unused)
{
	const double v[] = {1, 2, 3, 5, 7, 9};
	const struct trial t = {v, 1, 3, 3};
	struct trial_result r;
	struct trial_figure f;

	(void)unused;
	test(&t, &f, &r);
	assert_near(f.now, 2, 1e-12);
	assert_near(f.before, 7, 1e-12);
	assert_near(f.now_sd, 1, 1e-12);
	assert_near(f.before_sd, 2, 1e-12);
	assert_near(f.error, sqrt(5.0 / 3), 1e-12);
	assert_near(f.t, 5 / sqrt(5.0 / 3), 1e-12);
	/* 20 arrangements, of which this and its mirror image are the clearest */
	assert_int_equal(r.arrangements, 20);
	assert_near(f.chance, 0.1, 1e-12);
}

/* With k of n recordings a side, the clearest arrangement has the chance 2 / (n over k). */
static void four_recordings_a_side_can_tell(void **unused)
{
	static const struct {
		size_t now, before, arrangements;
		bool can_tell;
	} sides[] = {{1, 1, 2, false}, {1, 5, 6, false}, {3, 3, 20, false}, {2, 5, 21, true},
		{4, 3, 35, true}, {4, 4, 70, true}, {5, 5, 252, true}, {6, 6, 924, true},
		{8, 8, ARRANGEMENTS_MAX, true}, {1, 40, 41, false}};
	double v[41];

	(void)unused;
	for (size_t i = 0; i < COUNT(sides); i++) {
		const struct trial t = {v, 1, sides[i].now, sides[i].before};
		struct trial_result r;
		struct trial_figure f;

		for (size_t k = 0; k < COUNT(v); k++)
			v[k] = (double)(k % 2) / 8 + (k >= sides[i].now ? 100 : 0);
		test(&t, &f, &r);
		assert_int_equal(r.arrangements, sides[i].arrangements);
		assert_int_equal(r.can_tell, sides[i].can_tell);
		if (sides[i].can_tell)
			assert_true(f.chance <= 0.05 && f.t > r.critical);
	}
}

static void equal_values_do_not_differ(void **unused)
{
	const double v[] = {7, 7, 7, 7, 7, 7, 7, 7};
	const double nearly[] = {0.1 + 0.2, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3, 0.3};
	const struct trial t = {v, 1, 4, 4}, u = {nearly, 1, 4, 4};
	struct trial_result r;
	struct trial_figure f;

	(void)unused;
	test(&t, &f, &r);
	assert_true(f.t == 0 && f.chance == 1);
	test(&u, &f, &r); /* one ends in another digit, which is rounding */
	assert_true(f.t == 0 && f.chance == 1);
}

/* Without any variation each difference is one. */
static void a_figure_without_variation_is_found(void **unused)
{
	const double v[] = {2, 2, 2, 2, 1, 1, 1, 1};
	const struct trial t = {v, 1, 4, 4};
	struct trial_result r;
	struct trial_figure f;

	(void)unused;
	test(&t, &f, &r);
	assert_true(f.t > r.critical && f.chance < 0.05);
	assert_near(f.error, 0, 1e-12);
}

static void values_that_are_not_known_are_left_out(void **unused)
{
	const double v[] = {1, NAN, 2, 3, NAN, 11, 12, 13, NAN, NAN, /* a figure of some */
		1, NAN, NAN, NAN, NAN, 5, 6, 7, 8, 9};               /* and one of too few */
	const struct trial t = {v, 2, 5, 5};
	struct trial_figure f[2];
	struct trial_result r;

	(void)unused;
	test(&t, f, &r);
	assert_int_equal(f[0].now_n, 3);
	assert_int_equal(f[0].before_n, 3);
	assert_near(f[0].t, 10 / sqrt(2.0 / 3), 1e-9);
	assert_near(f[1].now, 1, 0);
	assert_true(isnan(f[1].error) && isnan(f[1].chance) && isnan(f[1].now_sd));
}

static void the_same_numbers_give_the_same_result(void **unused)
{
	double v[20];
	const struct trial t = {v, 1, 10, 10}; /* too many arrangements to try all */
	struct trial_result r, s;
	struct trial_figure f, g;
	uint64_t seed = 1;

	(void)unused;
	for (size_t i = 0; i < COUNT(v); i++)
		v[i] = (double)unit_random_below(&seed, 1000);
	test(&t, &f, &r);
	test(&t, &g, &s);
	assert_true(f.chance == g.chance && r.critical == s.critical);
	assert_int_equal(r.arrangements, ARRANGEMENTS_MAX);
}

/* ---- how often ---- */

enum { TRIALS = 400, FIGURES = 40, SIDE = 5, MODES = 4 };

static double uniform(uint64_t *state)
{
	return ((double)(unit_random(state) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
	return sqrt(-2 * log(uniform(state))) * cos(6.283185307179586 * uniform(state));
}

/*
 * Makes figures as recordings have them: some of one recording hang together by its `mood`; noise
 * is normal, or has few large values, or two levels with little between, or is mostly 0.
 */
static void make(double v[FIGURES][2 * SIDE], uint64_t *state)
{
	double mood[2 * SIDE];

	for (size_t r = 0; r < 2 * SIDE; r++)
		mood[r] = exp(normal(state));
	for (size_t f = 0; f < FIGURES; f++)
		for (size_t r = 0; r < 2 * SIDE; r++) {
			double noise = normal(state), *to = &v[f][r];

			switch (f % MODES) {
			case 0:
				*to = 100 + noise;
				break;
			case 1:
				*to = 10 * mood[r] + exp(1.5 * noise);
				break;
			case 2:
				*to = (noise > 0 ? 50 : 5) + 0.01 * uniform(state);
				break;
			default:
				*to = noise > 1 ? noise : 0;
			}
		}
}

/*
 * Returns in how many trials a figure was found: number 0, if `shift` is not 0, which is in its
 * standard deviations; else any.
 */
static double found(double shift, uint64_t seed)
{
	double v[FIGURES][2 * SIDE];
	const struct trial t = {v[0], FIGURES, SIDE, SIDE};
	int n = 0;

	for (int i = 0; i < TRIALS; i++) {
		struct trial_figure f[FIGURES];
		struct trial_result r;
		bool any = false;

		make(v, &seed);
		for (size_t k = 0; k < SIDE; k++)
			v[0][k] += shift;
		test(&t, f, &r);
		for (size_t k = 0; k < (shift != 0 ? 1 : FIGURES); k++)
			any |= f[k].t > r.critical;
		for (size_t k = 0; k < FIGURES; k++)
			assert_int_equal(f[k].t > r.critical, f[k].chance <= 0.05 + 1e-9);
		n += any;
	}
	return (double)n / TRIALS;
}

/* One in twenty promised: of 400 trials 20, with a standard deviation of 4.4. */
static void one_in_twenty_comparisons_of_equals_finds_anything(void **unused)
{
	double any = found(0, 1);

	(void)unused;
	print_message("any of %d figures: in %.3f\n", FIGURES, any);
	assert_true(any > 0.015 && any < 0.085);
}

static void a_change_of_many_times_the_noise_is_found(void **unused)
{
	double small = found(1, 2), large = found(12, 3), huge = found(40, 4);

	(void)unused;
	print_message("found: %.3f, %.3f, %.3f\n", small, large, huge);
	assert_true(small < 0.2);
	assert_true(large > 0.6);
	assert_true(huge > 0.95);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_difference_is_counted_in_standard_errors),
		cmocka_unit_test(four_recordings_a_side_can_tell),
		cmocka_unit_test(equal_values_do_not_differ),
		cmocka_unit_test(a_figure_without_variation_is_found),
		cmocka_unit_test(values_that_are_not_known_are_left_out),
		cmocka_unit_test(the_same_numbers_give_the_same_result),
		cmocka_unit_test(one_in_twenty_comparisons_of_equals_finds_anything),
		cmocka_unit_test(a_change_of_many_times_the_noise_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
