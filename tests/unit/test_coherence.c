/* SPDX-License-Identifier: MIT */
#include "stats.h"
#include "unit.h"

#define BINS 4096

static void noise(double *x, uint64_t seed)
{
	for (int i = 0; i < BINS; i++)
		x[i] = (double)unit_random_below(&seed, 1000);
}

static void a_series_is_its_own_image(void **unused)
{
	double x[BINS], y[BINS];
	struct stat_coherence c;
	struct stat_lag lag;

	(void)unused;
	noise(x, 1);
	for (int i = 0; i < BINS; i++)
		y[i] = 3 * x[i] + 5;
	assert_int_equal(stat_coherence(x, y, BINS, &c), 0);
	assert_int_equal(c.length, 256);
	assert_int_equal(c.segments, 16);
	assert_near(c.threshold, 1 - pow(0.05, 1. / 15), 1e-15);
	for (size_t k = 0; k <= c.length / 2; k++)
		assert_near(c.value[k], 1, 1e-9);
	free(c.value);
	assert_int_equal(stat_lag(x, y, BINS, &lag), 0);
	assert_int_equal(lag.bins, 0);
	assert_near(lag.correlation, 1, 1e-12);
}

/* About one in twenty frequencies of two independent series is above the threshold. */
static void strangers_are_incoherent(void **unused)
{
	double x[BINS], y[BINS];
	struct stat_coherence c;
	size_t above = 0;

	(void)unused;
	noise(x, 1);
	noise(y, 2);
	assert_int_equal(stat_coherence(x, y, BINS, &c), 0);
	for (size_t k = 1; k <= c.length / 2; k++)
		above += c.value[k] > c.threshold;
	assert_true(above < c.length / 2 / 7);
	free(c.value);
}

static void a_delay_is_the_lag_of_the_peak(void **unused)
{
	double x[BINS], y[BINS];
	struct stat_lag lag;

	(void)unused;
	noise(x, 1);
	for (int shift = -1000; shift <= 1000; shift += 250) {
		for (int i = 0; i < BINS; i++)
			y[i] = x[(i - shift + BINS) % BINS];
		assert_int_equal(stat_lag(x, y, BINS, &lag), 0);
		assert_int_equal(lag.bins, shift);
	}
}

static void gaps_take_their_segment(void **unused)
{
	double x[BINS], y[BINS];
	struct stat_coherence c;
	struct stat_lag lag;

	(void)unused;
	noise(x, 1);
	memcpy(y, x, sizeof(y));
	x[300] = NAN;
	assert_int_equal(stat_coherence(x, y, BINS, &c), 0);
	assert_int_equal(c.length, 0); /* 15 segments are too few */
	assert_null(c.value);
	assert_int_equal(stat_coherence(x, y, BINS / 2 + 128, &c), 0); /* 17 of 128 */
	assert_int_equal(c.segments, 16);
	free(c.value);
	assert_int_equal(stat_lag(x, y, BINS, &lag), 0);
	assert_int_equal(lag.bins, 0);
	assert_near(lag.correlation, 1, 1e-3);
}

static void too_little_is_refused(void **unused)
{
	double x[BINS] = {0}, y[BINS] = {0};
	struct stat_coherence c;
	struct stat_lag lag;

	(void)unused;
	assert_int_equal(stat_coherence(x, y, 255, &c), 0);
	assert_int_equal(c.length, 0);
	assert_int_equal(stat_coherence(x, y, BINS, &c), 0);
	assert_true(isnan(c.value[3])); /* without power there is no coherence */
	free(c.value);
	assert_int_equal(stat_lag(x, y, BINS, &lag), 0);
	assert_true(isnan(lag.correlation));
	assert_int_equal(stat_lag(x, y, 3, &lag), 0);
	assert_true(isnan(lag.correlation));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_series_is_its_own_image),
		cmocka_unit_test(strangers_are_incoherent),
		cmocka_unit_test(a_delay_is_the_lag_of_the_peak),
		cmocka_unit_test(gaps_take_their_segment),
		cmocka_unit_test(too_little_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
