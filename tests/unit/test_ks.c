/* SPDX-License-Identifier: MIT */
#include "stats.h"
#include "unit.h"

static void alike_are_at_no_distance(void **unused)
{
	double a[] = {3, 1, 2}, b[] = {2, 3, 1, 1, 2, 3};
	struct stat_ks ks = stat_ks(a, 3, b, 6);

	(void)unused;
	assert_near(ks.sup, 0, 0);
	assert_true(isnan(ks.at));
}

static void apart_they_are_at_distance_one(void **unused)
{
	double a[] = {1, 2}, b[] = {5, 4, 6};
	struct stat_ks ks = stat_ks(a, 2, b, 3);

	(void)unused;
	assert_near(ks.sup, 1, 0);
	assert_near(ks.at, 2, 0);
}

/* F is 0.25 ... 1 at 1 2 3 4; G is 0.75 at 2, where F is 0.5; ties count on both sides at once. */
static void the_largest_distance_is_found(void **unused)
{
	double a[] = {4, 3, 2, 1}, b[] = {2, 2, 2, 4};
	struct stat_ks ks = stat_ks(a, 4, b, 4);

	(void)unused;
	assert_near(ks.sup, 0.25, 0);
	assert_near(ks.at, 1, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alike_are_at_no_distance),
		cmocka_unit_test(apart_they_are_at_distance_one),
		cmocka_unit_test(the_largest_distance_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
