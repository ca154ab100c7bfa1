/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "stats.h"
#include "unit.h"

#define BINS (1 << 15)

/* Independent values: H is one half. */
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
	assert_true(h.error < 0.04);
	assert_near(h.variance_time, 0.5, 2 * h.vt_error);
	free(bin);
}

/* The same, sent by timers that are late by a third of a bin on average, and in order. */
static double *late(const double *on_time)
{
	double *bin = calloc(BINS, sizeof(*bin));
	uint64_t state = 8, now = 0;

	assert_non_null(bin);
	for (uint64_t i = 0; i < BINS; i++) {
		uint64_t delay = 0;

		while (unit_random_below(&state, 100) < 25) /* a third of a bin on average */
			delay++;
		if (i + delay > now)
			now = i + delay;
		if (now < BINS)
			bin[now] += on_time[i];
	}
	return bin;
}

/* A series made of Haar wavelets: the energy at scale 2^j is that of H = 0.7. */
static double *long_range(void)
{
	double *bin = calloc(BINS, sizeof(*bin)), size[14] = {0};
	uint64_t state = 11;

	assert_non_null(bin);
	for (int i = 0; i < BINS; i++) {
		bin[i] = 20000;
		for (int j = 1; j < 14; j++) {
			if (i % (1 << j) == 0)
				size[j] = (double)unit_random_below(&state, 4001) - 2000;
			bin[i] += (i >> (j - 1) & 1 ? -size[j] : size[j]) * pow(2, -0.3 * j);
		}
	}
	return bin;
}

/* A series sent on time and the same one sent late have one H: the interval must cover both. */
static void late_timers_widen_the_interval(void **unused)
{
	double *on_time = long_range(), *bin = late(on_time);
	struct stat_hurst before, after;

	(void)unused;
	assert_int_equal(stat_hurst(on_time, BINS, &before), 0);
	assert_int_equal(stat_hurst(bin, BINS, &after), 0);
	assert_int_equal(before.refused, HURST_KNOWN);
	assert_int_equal(after.refused, HURST_KNOWN);
	assert_near(before.h, 0.7, 0.01);
	assert_true(before.h - after.h > after.scaling.error / 2); /* 0.53 by that line alone */
	assert_near(after.h, before.h, after.error);
	free(bin);
	free(on_time);
}

static void refusal_gives_the_reason(void **unused)
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
	/* a series whose second half is a quarter as busy is not stationary */
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
		cmocka_unit_test(late_timers_widen_the_interval),
		cmocka_unit_test(refusal_gives_the_reason),
		cmocka_unit_test(a_walk_has_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
