/* SPDX-License-Identifier: MIT */
#include "stats.h"
#include "unit.h"

static const struct stat_gaps none = {NULL, 0};

static void spacings_are_differences(void **unused)
{
	const struct stat_unit u[] = {{0, 1}, {10, 1}, {10, 1}, {35, 1}};
	double s[4];

	(void)unused;
	assert_int_equal(stat_spacings(u, 4, none, s), 3);
	assert_near(s[0], 10, 0);
	assert_near(s[1], 0, 0);
	assert_near(s[2], 25, 0);
	assert_int_equal(stat_spacings(u, 1, none, s), 0);
	assert_int_equal(stat_spacings(u, 0, none, s), 0);
}

static void spacings_that_touch_a_gap_are_dropped(void **unused)
{
	const struct stat_unit u[] = {{0, 1}, {10, 1}, {20, 1}, {30, 1}, {40, 1}, {50, 1}};
	const struct stat_gap gap[] = {{12, 13}, {20, 21}, {45, 60}};
	double s[6];

	(void)unused;
	/* 0-10 is left; the gap at 20 touches both spacings that end there; 30-40 is left */
	assert_int_equal(stat_spacings(u, 6, (struct stat_gaps){gap, 3}, s), 2);
	assert_near(s[0], 10, 0);
	assert_near(s[1], 10, 0);
}

static void bins_hold_units_or_bytes(void **unused)
{
	const struct stat_unit u[] = {{-1, 9}, {0, 100}, {9.9, 50}, {10, 7}, {39, 1}, {40, 1}};
	double bin[4];

	(void)unused;
	stat_bins(u, 6, none, 0, 10, true, bin, 4);
	assert_near(bin[0], 2, 0);
	assert_near(bin[1], 1, 0);
	assert_near(bin[2], 0, 0);
	assert_near(bin[3], 1, 0);
	stat_bins(u, 6, none, 0, 10, false, bin, 4);
	assert_near(bin[0], 150, 0);
	assert_near(bin[1], 7, 0);
}

static void bins_that_a_gap_touches_are_not_numbers(void **unused)
{
	const struct stat_unit u[] = {{5, 1}, {15, 1}, {45, 1}};
	const struct stat_gap gap[] = {{-20, -10}, {12, 12}, {29, 30}, {48, 1e300}};
	double bin[5];

	(void)unused;
	stat_bins(u, 3, (struct stat_gaps){gap, 4}, 0, 10, true, bin, 5);
	assert_near(bin[0], 1, 0);
	assert_true(isnan(bin[1]) && isnan(bin[2]) && isnan(bin[3]) && isnan(bin[4]));
}

static void quantiles_are_nearest_ranks(void **unused)
{
	const double v[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

	(void)unused;
	assert_near(stat_quantile(v, 10, 0.5), 5, 0);
	assert_near(stat_quantile(v, 10, 0.51), 6, 0);
	assert_near(stat_quantile(v, 10, 0.9), 9, 0);
	assert_near(stat_quantile(v, 10, 1), 10, 0);
	assert_near(stat_quantile(v, 1, 0.01), 1, 0);
	assert_true(isnan(stat_quantile(v, 0, 0.5)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spacings_are_differences),
		cmocka_unit_test(spacings_that_touch_a_gap_are_dropped),
		cmocka_unit_test(bins_hold_units_or_bytes),
		cmocka_unit_test(bins_that_a_gap_touches_are_not_numbers),
		cmocka_unit_test(quantiles_are_nearest_ranks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
