/* SPDX-License-Identifier: MIT */
#include "stats.h"
#include "unit.h"

static void shares_are_judged(void **unused)
{
	const double alike[] = {7, 7, 7, 7}, one[] = {0, 9, 0, 0}, some[] = {1, 2, 3};
	const double nothing[] = {0, 0};

	(void)unused;
	assert_near(stat_jain(alike, 4), 1, 0);
	assert_near(stat_jain(one, 4), 0.25, 0);
	assert_near(stat_jain(some, 3), 36. / 42, 1e-15);
	assert_true(isnan(stat_jain(nothing, 2)));
	assert_true(isnan(stat_jain(alike, 0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares_are_judged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
