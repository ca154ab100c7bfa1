/* SPDX-License-Identifier: MIT */
#include "stats.h"
#include "unit.h"

#define BINS (1 << 15)

/* Of independent values H is one half. */
static double *noise(void)
{
	double *bin = malloc(BINS * sizeof(*bin));
	uint64_t state = 20261121;

	assert_non_null(bin);
	for (int i = 0; i < BINS; i++) {
		bin[i] = 0;
		for (int k = 0; k < 12; k++)
			bin[i] += (double)unit_random_below(&state, 1000);
	}
	return bin;
}

static void independent_values_have_half(void **unused)
{
	double *bin = noise();
	struct stat_hurst h;

	(void)unused;
	assert_int_equal(stat_hurst(bin, BINS, &h), 0);
	assert_int_equal(h.refused, HURST_KNOWN);
	assert_near(h.h, 0.5, 2 * h.error);
	assert_true(h.error < 0.02);
	assert_near(h.variance_time, 0.5, 2 * h.vt_error);
	free(bin);
}

static void it_is_refused_with_the_reason(void **unused)
{
	double *bin = noise(), kept = bin[77];
	struct stat_hurst h;

	(void)unused;
	assert_int_equal(stat_hurst(bin, STAT_HURST_BINS - 1, &h), 0);
	assert_int_equal(h.refused, HURST_SHORT);
	assert_true(isnan(h.h));
	assert_int_equal(stat_hurst(bin, STAT_HURST_BINS, &h), 0);
	assert_int_equal(h.refused, HURST_KNOWN);
	bin[77] = NAN;
	stat_hurst(bin, BINS, &h);
	assert_int_equal(h.refused, HURST_GAP);
	assert_true(isnan(h.h) && isnan(h.error));
	bin[77] = kept;
	/* one half four times as busy as the other is no stationary process */
	for (int i = 0; i < BINS / 2; i++)
		bin[i] *= 4;
	stat_hurst(bin, BINS, &h);
	assert_int_not_equal(h.refused, HURST_KNOWN);
	assert_true(isnan(h.h));
	for (int i = 0; i < BINS; i++)
		bin[i] = i % 32 ? 0 : 1448; /* a clock */
	stat_hurst(bin, BINS, &h);
	assert_int_equal(h.refused, HURST_NO_LINE);
	for (int i = 0; i < BINS; i++)
		bin[i] = 0;
	stat_hurst(bin, BINS, &h);
	assert_int_equal(h.refused, HURST_NO_LINE);
	free(bin);
}

/* A sum of independent steps is not stationary: a slope of 2 is no H. */
static void a_walk_has_none(void **unused)
{
	double *bin = noise();
	struct stat_hurst h;

	(void)unused;
	for (int i = 1; i < BINS; i++)
		bin[i] = bin[i - 1] + (bin[i] - 6000) / 1000;
	stat_hurst(bin, BINS, &h);
	assert_int_not_equal(h.refused, HURST_KNOWN);
	assert_true(isnan(h.h));
	free(bin);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(independent_values_have_half),
		cmocka_unit_test(it_is_refused_with_the_reason),
		cmocka_unit_test(a_walk_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
