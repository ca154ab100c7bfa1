/* SPDX-License-Identifier: MIT */
#include "reported/spread.h"
#include "sums/dist.h"
#include "unit.h"

#define SAMPLES 2000
#define EXACT   2048 /* values below have a bin each */

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Fills a distribution with sorted random values below `limit`. */
static void fill(struct dist *d, uint64_t v[], size_t n, uint64_t limit, uint64_t seed)
{
	memset(d, 0, sizeof(*d));
	for (size_t i = 0; i < n; i++) {
		v[i] = unit_random_below(&seed, limit);
		dist_add(d, v[i], 1);
	}
	qsort(v, n, sizeof(v[0]), by_value);
}

/*
 * Returns the nearest rank, in integers: the least value with at least `percent` of all at or below
 * it.
 */
static uint64_t nearest_rank(const uint64_t sorted[], size_t n, unsigned int percent)
{
	size_t rank = (n * percent + 99) / 100;

	return sorted[rank ? rank - 1 : 0];
}

static void an_empty_distribution_gives_zero(void **unused)
{
	struct dist d = {0}, other = {0};

	(void)unused;
	assert_near(dist_mean(&d), 0, 0);
	assert_near(dist_quantile(&d, 0.5), 0, 0);
	assert_near(dist_mean_abs_dev(&d), 0, 0);
	assert_near(dist_w1(&d, &other), 0, 0);
	assert_false(dist_quantile_supported(&d, 0.5));
	dist_free(&d);
}

static void one_without_weight_is_not_there(void **unused)
{
	struct dist d = {0};

	(void)unused;
	dist_add(&d, 5, 0);
	assert_int_equal(d.n, 0);
	assert_near(dist_mean(&d), 0, 0);
	dist_free(&d);
}

static void means_are_exact(void **unused)
{
	uint64_t seed = 1, sum = 0;
	struct dist d = {0};

	(void)unused;
	for (int i = 0; i < SAMPLES; i++) {
		uint64_t v = unit_random_below(&seed, 1ull << 40);

		dist_add(&d, v, 1);
		sum += v;
	}
	assert_true(d.sum == sum);
	assert_int_equal(d.n, SAMPLES);
	assert_near(dist_mean(&d), (double)sum / SAMPLES, 0);
	dist_free(&d);
}

static void the_largest_is_kept(void **unused)
{
	struct dist d = {0};

	(void)unused;
	dist_add(&d, 7, 3);
	dist_add(&d, 3, 1);
	dist_add(&d, 900000001, 2);
	assert_int_equal(d.max, 900000001);
	assert_int_equal(d.n, 3);
	assert_int_equal(d.weight, 6);
	dist_free(&d);
}

static void quantiles_of_small_integers_are_exact(void **unused)
{
	uint64_t v[60];
	struct dist d;

	(void)unused;
	for (size_t n = 1; n <= COUNT(v); n++) {
		fill(&d, v, n, EXACT, n);
		for (unsigned int p = 1; p <= 100; p++)
			assert_near(dist_quantile(&d, p / 100.0), nearest_rank(v, n, p), 0);
		dist_free(&d);
	}
}

/* Nothing is interpolated: the median of two is the lower one. */
static void a_quantile_is_one_of_the_values(void **unused)
{
	struct dist d = {0};

	(void)unused;
	dist_add(&d, 10, 1);
	dist_add(&d, 20, 1);
	assert_near(dist_quantile(&d, 0.5), 10, 0);
	assert_near(dist_quantile(&d, 0.51), 20, 0);
	assert_near(dist_quantile(&d, 1), 20, 0);
	dist_free(&d);
}

static void a_weight_counts_as_so_many_samples(void **unused)
{
	struct dist weighted = {0}, repeated = {0};
	uint64_t seed = 3;

	(void)unused;
	for (int i = 0; i < 50; i++) {
		uint64_t v = unit_random_below(&seed, EXACT), w = unit_random_below(&seed, 9);

		dist_add(&weighted, v, w);
		for (uint64_t k = 0; k < w; k++)
			dist_add(&repeated, v, 1);
	}
	assert_true(weighted.sum == repeated.sum);
	for (unsigned int p = 1; p <= 100; p++)
		assert_near(dist_quantile(&weighted, p / 100.0),
			dist_quantile(&repeated, p / 100.0), 0);
	assert_near(dist_mean_abs_dev(&weighted), dist_mean_abs_dev(&repeated), 1e-9);
	dist_free(&weighted);
	dist_free(&repeated);
}

static void assert_quantiles_within_a_bin(uint64_t limit, uint64_t seed)
{
	static uint64_t v[SAMPLES];
	struct dist d;

	fill(&d, v, SAMPLES, limit, seed);
	for (unsigned int p = 1; p <= 100; p++) {
		double exact = (double)nearest_rank(v, SAMPLES, p);

		assert_true(
			fabs(dist_quantile(&d, p / 100.0) - exact) * 1024 < exact || exact < EXACT);
	}
	dist_free(&d);
}

static void quantiles_of_large_values_are_off_by_less_than_a_bin(void **unused)
{
	(void)unused;
	for (int bits = 11; bits <= 53; bits += 3)
		assert_quantiles_within_a_bin(1ull << bits, (uint64_t)bits);
}

static void values_on_both_sides_of_the_exact_ones_are_kept_apart(void **unused)
{
	struct dist d = {0};

	(void)unused;
	for (uint64_t v = EXACT - 3; v < EXACT + 4; v++)
		dist_add(&d, v, 1);
	assert_near(dist_quantile(&d, 3 / 7.0), EXACT - 1, 0);
	assert_near(dist_quantile(&d, 4 / 7.0), EXACT, 1);
	assert_near(dist_quantile(&d, 1), EXACT + 3, 1);
	dist_free(&d);
}

static void huge_values_and_weights_do_not_overflow(void **unused)
{
	struct dist d = {0};

	(void)unused;
	dist_add(&d, 1ull << 40, 1ull << 50);
	dist_add(&d, 3ull << 40, 1ull << 50);
	assert_near(dist_mean(&d), (double)(2ull << 40), 0);
	assert_near(dist_quantile(&d, 0.5), (double)(1ull << 40), 0);
	assert_near(dist_quantile(&d, 1), (double)(3ull << 40), 0);
	assert_near(dist_mean_abs_dev(&d), (double)(1ull << 40), 0);
	dist_add(&d, UINT64_MAX, 1);
	assert_int_equal(d.max, UINT64_MAX);
	assert_near(dist_quantile(&d, 1) / (double)UINT64_MAX, 1, 1e-15);
	dist_free(&d);
}

static double abs_dev(const uint64_t sorted[], size_t n)
{
	double median = (double)sorted[(n + 1) / 2 - 1], sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += fabs((double)sorted[i] - median);
	return sum / (double)n;
}

static void the_mean_deviation_from_the_median_is_that_of_a_sort(void **unused)
{
	uint64_t v[300];
	struct dist d;

	(void)unused;
	for (size_t n = 1; n <= COUNT(v); n += 13) {
		fill(&d, v, n, EXACT, n + 40);
		assert_near(dist_mean_abs_dev(&d), abs_dev(v, n), 1e-9);
		dist_free(&d);
	}
}

/* Values of a bin count as equal, which moves none by more than a bin. */
static void large_quantiles_err_by_less_than_two_bins(void **unused)
{
	static uint64_t v[SAMPLES];
	struct dist d;

	(void)unused;
	for (int bits = 12; bits <= 40; bits += 4) {
		fill(&d, v, SAMPLES, 1ull << bits, (uint64_t)bits);
		assert_near(dist_mean_abs_dev(&d), abs_dev(v, SAMPLES), 2 * (double)d.max / 1024);
		dist_free(&d);
	}
}

/* Returns the area between the two empirical distribution functions, value by value. */
static double area(const uint64_t a[], size_t n, const uint64_t b[], size_t m, uint64_t limit)
{
	double sum = 0;
	size_t i = 0, j = 0;

	for (uint64_t x = 0; x < limit; x++) {
		while (i < n && a[i] <= x)
			i++;
		while (j < m && b[j] <= x)
			j++;
		sum += fabs((double)i / (double)n - (double)j / (double)m);
	}
	return sum;
}

static void w1_is_the_area_between_the_distribution_functions(void **unused)
{
	uint64_t v[90], w[90];
	struct dist a, b;

	(void)unused;
	for (size_t n = 1; n <= COUNT(v); n += 11)
		for (size_t m = 2; m <= COUNT(w); m += 17) {
			fill(&a, v, n, EXACT, n);
			fill(&b, w, m, EXACT / 2, m + 7);
			assert_near(dist_w1(&a, &b), area(v, n, w, m, EXACT), 1e-6);
			assert_near(dist_w1(&a, &b), dist_w1(&b, &a), 1e-9);
			dist_free(&a);
			dist_free(&b);
		}
}

static void w1_to_itself_is_nothing_and_to_a_shift_is_the_shift(void **unused)
{
	struct dist a = {0}, b = {0};

	(void)unused;
	for (uint64_t v = 0; v < 500; v += 7) {
		dist_add(&a, v, 1);
		dist_add(&b, v + 1000, 3); /* the total weight does not matter */
	}
	assert_near(dist_w1(&a, &a), 0, 0);
	assert_near(dist_w1(&a, &b), 1000, 1e-6);
	dist_free(&a);
	dist_free(&b);
}

/* Ten samples must lie beyond the nearest rank. */
static void a_quantile_needs_ten_samples_beyond_it(void **unused)
{
	static const unsigned int per_mille[] = {500, 900, 990, 999};
	struct dist d = {0};

	(void)unused;
	for (unsigned int n = 1; n <= 10100; n++) {
		dist_add(&d, 1, 1);
		for (size_t i = 0; i < COUNT(per_mille); i++) {
			unsigned int rank = (n * per_mille[i] + 999) / 1000;

			assert_int_equal(
				dist_quantile_supported(&d, per_mille[i] / 1000.0), n - rank >= 10);
		}
	}
	dist_free(&d);
}

static void bytes_do_not_make_up_for_samples(void **unused)
{
	struct dist d = {0};

	(void)unused;
	dist_add(&d, 1, 1000000);
	assert_false(dist_quantile_supported(&d, 0.5));
	dist_free(&d);
}

/* The latest values are not in their bins yet: a query in between changes nothing. */
static void query_changes_nothing(void **unused)
{
	static const uint64_t limits[] = {3, 3000, 1ull << 31, 1ull << 40};

	(void)unused;
	for (size_t k = 0; k < 2 * COUNT(limits); k++) {
		struct dist asked = {0}, left = {0};
		uint64_t seed = k + 1;

		for (int i = 0; i < 150; i++) {
			uint64_t v = unit_random_below(&seed, limits[k / 2]);
			uint64_t weight = 1 + (unit_random_below(&seed, 3) << (k & 1 ? 31 : 0));

			dist_add(&asked, v, weight);
			dist_add(&left, v, weight);
			if (unit_random_below(&seed, 1 + (uint64_t)i / 4) == 0)
				dist_quantile(&asked, 0.5);
		}
		for (unsigned int p = 1; p <= 100; p++)
			assert_true(dist_quantile(&asked, p / 100.0) ==
				    dist_quantile(&left, p / 100.0));
		assert_true(dist_weight_of_zero(&asked) == dist_weight_of_zero(&left));
		assert_true(asked.sum == left.sum);
		assert_true(dist_mean_abs_dev(&asked) == dist_mean_abs_dev(&left));
		dist_free(&asked);
		dist_free(&left);
	}
}

/* Values held back, in a bin, and beyond the room of a bin. */
static void all_of_another_is_as_if_added_one_by_one(void **unused)
{
	struct dist one = {0}, other = {0}, both = {0};
	uint64_t seed = 3;

	(void)unused;
	for (int i = 0; i < SAMPLES; i++) {
		uint64_t v = unit_random_below(&seed, 1000000), w = 1 + (uint64_t)i % 5;

		dist_add(i % 3 ? &one : &other, v, i == 100 ? 1ull << 50 : w);
		dist_add(&both, v, i == 100 ? 1ull << 50 : w);
	}
	dist_add_all(&one, &other);
	dist_free(&other);
	dist_add_all(&one, &other); /* an empty one adds nothing */
	assert_int_equal(one.n, both.n);
	assert_int_equal(one.weight, both.weight);
	assert_int_equal(one.max, both.max);
	assert_true(one.sum == both.sum);
	for (double q = 0.01; q < 1; q += 0.01)
		assert_near(dist_quantile(&one, q), dist_quantile(&both, q), 1e-6);
	assert_near(dist_mean_abs_dev(&one), dist_mean_abs_dev(&both), 1e-6);
	dist_free(&one);
	dist_free(&both);
}

/* Returns the quantile that holds of so many different values. */
static double highest_of(uint64_t n, double *at)
{
	struct dist d = {0};
	double q;

	for (uint64_t i = 1; i <= n; i++)
		dist_add(&d, i, 1);
	q = dist_highest(&d);
	*at = dist_at_highest(&d);
	dist_free(&d);
	return q;
}

static void the_largest_quantile_has_ten_samples_beyond_it(void **unused)
{
	double at;

	(void)unused;
	assert_true(isnan(highest_of(0, &at)) && isnan(at));
	assert_true(highest_of(19, &at) == 1 && at == 19);
	assert_true(highest_of(20, &at) == 0.5 && at == 10);
	assert_true(highest_of(80, &at) == 0.875 && at == 70);
	assert_true(highest_of(1000, &at) == 0.99 && at == 990);
	assert_true(highest_of(2000, &at) == 0.99 && at == 1980);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_distribution_gives_zero),
		cmocka_unit_test(one_without_weight_is_not_there),
		cmocka_unit_test(means_are_exact),
		cmocka_unit_test(the_largest_is_kept),
		cmocka_unit_test(quantiles_of_small_integers_are_exact),
		cmocka_unit_test(a_quantile_is_one_of_the_values),
		cmocka_unit_test(a_weight_counts_as_so_many_samples),
		cmocka_unit_test(quantiles_of_large_values_are_off_by_less_than_a_bin),
		cmocka_unit_test(values_on_both_sides_of_the_exact_ones_are_kept_apart),
		cmocka_unit_test(huge_values_and_weights_do_not_overflow),
		cmocka_unit_test(the_mean_deviation_from_the_median_is_that_of_a_sort),
		cmocka_unit_test(large_quantiles_err_by_less_than_two_bins),
		cmocka_unit_test(w1_is_the_area_between_the_distribution_functions),
		cmocka_unit_test(w1_to_itself_is_nothing_and_to_a_shift_is_the_shift),
		cmocka_unit_test(a_quantile_needs_ten_samples_beyond_it),
		cmocka_unit_test(bytes_do_not_make_up_for_samples),
		cmocka_unit_test(query_changes_nothing),
		cmocka_unit_test(all_of_another_is_as_if_added_one_by_one),
		cmocka_unit_test(the_largest_quantile_has_ten_samples_beyond_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
