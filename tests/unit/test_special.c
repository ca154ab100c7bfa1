/* SPDX-License-Identifier: MIT */
#include "stats.h"
#include "unit.h"

/* Known values: gamma, Basel's problem, and -ln 2 ... of digamma(1/2). */
static void digamma_is_right_where_it_is_known(void **unused)
{
	const double euler = 0.57721566490153286061;

	(void)unused;
	assert_near(stat_digamma(1), -euler, 1e-15);
	assert_near(stat_digamma(0.5), -euler - 2 * M_LN2, 1e-14);
	assert_near(stat_digamma(2), 1 - euler, 1e-15);
	assert_near(stat_digamma(1e6), 13.815510057964190771, 1e-13);
}

static void zeta2_is_right_where_it_is_known(void **unused)
{
	(void)unused;
	assert_near(stat_zeta2(1), M_PI * M_PI / 6, 1e-15);
	assert_near(stat_zeta2(0.5), M_PI * M_PI / 2, 1e-14);
	assert_near(stat_zeta2(2), M_PI * M_PI / 6 - 1, 1e-15);
	assert_near(stat_zeta2(1e5) * 1e5, 1.000005000016666666, 1e-14);
}

/* With two degrees of freedom chi-square is exponential; quantiles are from a table. */
static void chi2_is_right_where_it_is_known(void **unused)
{
	(void)unused;
	assert_near(stat_chi2_beyond(0, 3), 1, 0);
	assert_near(stat_chi2_beyond(-1, 3), 1, 0);
	assert_true(isnan(stat_chi2_beyond(NAN, 3)));
	for (double x = 0.5; x < 100; x *= 1.7)
		assert_near(stat_chi2_beyond(x, 2) / exp(-x / 2), 1, 1e-13);
	assert_near(stat_chi2_beyond(3.841458820694124, 1), 0.05, 1e-14);
	assert_near(stat_chi2_beyond(18.307038053275146, 10), 0.05, 1e-14);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digamma_is_right_where_it_is_known),
		cmocka_unit_test(zeta2_is_right_where_it_is_known),
		cmocka_unit_test(chi2_is_right_where_it_is_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
