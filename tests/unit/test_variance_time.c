/* SPDX-License-Identifier: MIT */
#include "stats.h"
#include "unit.h"

/* Blocks of alternating 1 and 0 average to one half: no variance is left, and no logarithm. */
static void variances_are_of_block_means(void **unused)
{
	struct stat_vt v[STAT_OCTAVES];
	double bin[128];

	(void)unused;
	for (int i = 0; i < 128; i++)
		bin[i] = i / 2 % 2; /* 0 0 1 1 */
	assert_int_equal(stat_variance_time(bin, 128, v), 2);
	assert_near(v[0].variance, 0.25 * 128 / 127, 1e-15);
	assert_int_equal(v[1].m, 2);
	assert_int_equal(v[1].blocks, 64);
	assert_near(v[1].variance, 0.25 * 64 / 63, 1e-15);
	assert_int_equal(stat_variance_time(bin, 29, v), 0);
}

static void the_slope_is_that_of_a_line(void **unused)
{
	struct stat_vt v[6];
	struct stat_slope s;

	(void)unused;
	for (int k = 0; k < 6; k++)
		v[k] = (struct stat_vt){1u << k, 2048u >> k, 7 * pow(2, -0.4 * k)};
	s = stat_variance_time_slope(v, 6, NAN);
	assert_near(s.slope, -0.4, 1e-14);
	assert_true(s.error > 0 && s.error < 0.4);
	assert_true(isnan(stat_variance_time_slope(v, 2, NAN).slope));
}

static void gaps_take_their_blocks_only(void **unused)
{
	struct stat_vt v[STAT_OCTAVES];
	double bin[256];

	(void)unused;
	for (int i = 0; i < 256; i++)
		bin[i] = i % 7;
	bin[100] = NAN;
	assert_true(stat_variance_time(bin, 256, v) >= 3);
	assert_int_equal(v[0].blocks, 255);
	assert_int_equal(v[1].blocks, 127);
	assert_int_equal(v[2].blocks, 63);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variances_are_of_block_means),
		cmocka_unit_test(the_slope_is_that_of_a_line),
		cmocka_unit_test(gaps_take_their_blocks_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
