/* SPDX-License-Identifier: MIT */
#include "stats.h"
#include "unit.h"

static const struct stat_gaps none = {NULL, 0};

static void units_as_close_as_the_gap_are_one_burst(void **unused)
{
	const struct stat_unit u[] = {{0, 10}, {1, 20}, {2, 30}, {4, 40}, {9, 50}, {10, 60}};
	struct stat_burst b[6];
	size_t dropped;

	(void)unused;
	assert_int_equal(stat_bursts(u, 6, none, 1, b, &dropped), 3);
	assert_int_equal(dropped, 0);
	assert_near(b[0].units, 3, 0);
	assert_near(b[0].bytes, 60, 0);
	assert_near(b[0].duration_ns, 2, 0);
	assert_near(b[1].units, 1, 0);
	assert_near(b[1].duration_ns, 0, 0);
	assert_near(b[2].bytes, 110, 0);
	assert_int_equal(stat_bursts(u, 6, none, 2, b, &dropped), 2);
	assert_int_equal(stat_bursts(u, 6, none, 0, b, &dropped), 6);
	assert_int_equal(stat_bursts(u, 1, none, 1, b, &dropped), 1);
	assert_int_equal(stat_bursts(u, 0, none, 1, b, &dropped), 0);
}

/* Four bursts of two; a gap inside the second, and one between the third and the fourth. */
static void bursts_that_touch_a_gap_are_dropped(void **unused)
{
	const struct stat_unit u[] = {
		{0, 1}, {1, 1}, {10, 1}, {11, 1}, {20, 1}, {21, 1}, {30, 1}, {31, 1}, {40, 1}};
	const struct stat_gap inside[] = {{10.5, 10.6}}, between[] = {{25, 26}};
	struct stat_burst b[9];
	size_t dropped;

	(void)unused;
	assert_int_equal(stat_bursts(u, 9, (struct stat_gaps){inside, 1}, 1, b, &dropped), 4);
	assert_int_equal(dropped, 1);
	assert_int_equal(stat_bursts(u, 9, (struct stat_gaps){between, 1}, 1, b, &dropped), 3);
	assert_int_equal(dropped, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units_as_close_as_the_gap_are_one_burst),
		cmocka_unit_test(bursts_that_touch_a_gap_are_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
