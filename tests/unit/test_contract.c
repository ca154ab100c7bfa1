/* SPDX-License-Identifier: MIT */
#include "stats.h"
#include "unit.h"

/* Ten packets of 100 bytes at once, then one per second. */
static void the_bucket_holds_bytes_above_the_rate(void **unused)
{
	struct stat_unit u[20];

	(void)unused;
	for (int i = 0; i < 20; i++)
		u[i] = (struct stat_unit){i < 10 ? 0 : (i - 9) * 1e9, 100};
	assert_near(stat_bucket(u, 20, 0), 2000, 1e-9);
	assert_near(stat_bucket(u, 20, 100), 1000, 1e-9);
	assert_near(stat_bucket(u, 20, 1e9), 1000, 1e-9);
	/* at 40 bytes a second 60 are added each second: 1000 + 10 * 60 */
	assert_near(stat_bucket(u, 20, 40), 1600, 1e-9);
	assert_near(stat_bucket(u, 0, 40), 0, 0);
}

static void the_rate_is_the_bucket_s_inverse(void **unused)
{
	struct stat_unit u[20];

	(void)unused;
	for (int i = 0; i < 20; i++)
		u[i] = (struct stat_unit){i < 10 ? 0 : (i - 9) * 1e9, 100};
	assert_near(stat_rate(u, 20, 1600), 40, 1e-9);
	assert_near(stat_rate(u, 20, 1000), 100, 1e-9);
	assert_near(stat_rate(u, 20, 2000), 0, 0);
	assert_true(isinf(stat_rate(u, 20, 999))); /* they come at one instant */
	assert_near(stat_rate(u, 0, 0), 0, 0);
}

static void a_steady_stream_needs_one_packet(void **unused)
{
	struct stat_unit u[100];

	(void)unused;
	for (int i = 0; i < 100; i++)
		u[i] = (struct stat_unit){i * 1e6, 1250};
	assert_near(stat_bucket(u, 100, 1250e3), 1250, 1e-6); /* 10 Mbit/s */
	assert_near(stat_rate(u, 100, 1250), 1250e3, 1e-4);
	assert_near(stat_rate(u, 100, 2500), 1250e3 * 98 / 99, 1e-4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bucket_holds_bytes_above_the_rate),
		cmocka_unit_test(the_rate_is_the_bucket_s_inverse),
		cmocka_unit_test(a_steady_stream_needs_one_packet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
