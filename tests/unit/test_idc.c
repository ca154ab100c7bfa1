/* SPDX-License-Identifier: MIT */
#include "stats.h"
#include "unit.h"

/* 4 and 0 alternate: mean 2, variance 4 n/(n-1); in pairs always 4. */
static void windows_of_powers_of_two_are_disjoint(void **unused)
{
	struct stat_idc out[STAT_OCTAVES];
	double bin[64];

	(void)unused;
	for (int i = 0; i < 64; i++)
		bin[i] = i % 2 ? 0 : 4;
	assert_int_equal(stat_idc(bin, 64, out), 2);
	assert_int_equal(out[0].bins, 1);
	assert_int_equal(out[0].windows, 64);
	assert_near(out[0].mean, 2, 0);
	assert_near(out[0].idc, 2 * 64. / 63, 1e-15);
	assert_int_equal(out[1].bins, 2);
	assert_int_equal(out[1].windows, 32);
	assert_near(out[1].mean, 4, 0);
	assert_near(out[1].idc, 0, 0);
}

static void fewer_than_thirty_windows_are_none(void **unused)
{
	struct stat_idc out[STAT_OCTAVES];
	double bin[64];

	(void)unused;
	for (int i = 0; i < 64; i++)
		bin[i] = i;
	assert_int_equal(stat_idc(bin, 29, out), 0);
	assert_int_equal(stat_idc(bin, 30, out), 1);
	assert_int_equal(stat_idc(bin, 0, out), 0);
	memset(bin, 0, sizeof(bin));
	assert_int_equal(stat_idc(bin, 64, out), 0); /* no packets: nothing to divide by */
}

static void windows_that_touch_a_gap_are_left_out(void **unused)
{
	struct stat_idc out[STAT_OCTAVES];
	double bin[64];

	(void)unused;
	for (int i = 0; i < 64; i++)
		bin[i] = i % 2 ? 0 : 4;
	bin[10] = NAN;
	assert_int_equal(stat_idc(bin, 64, out), 2);
	assert_int_equal(out[0].windows, 63);
	assert_near(out[0].mean, 124. / 63, 1e-15);
	assert_int_equal(out[1].windows, 31);
	assert_near(out[1].mean, 4, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_of_powers_of_two_are_disjoint),
		cmocka_unit_test(fewer_than_thirty_windows_are_none),
		cmocka_unit_test(windows_that_touch_a_gap_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
