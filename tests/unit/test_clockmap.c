/* SPDX-License-Identifier: MIT */
#include "clock/clockmap.h"
#include "unit.h"

#define MS 1000000ull

static void without_two_points_numbers_pass_unchanged(void **unused)
{
	struct clockmap m = {0};

	(void)unused;
	assert_false(clockmap_valid(&m));
	assert_int_equal(clockmap_cycles(&m, 12345), 12345);
	clockmap_add(&m, 100 * MS, 1, 0);
	assert_false(clockmap_valid(&m));
	assert_int_equal(clockmap_ns(&m, 12345), 12345);
	assert_near(clockmap_hz(&m), 0, 0);
	clockmap_free(&m);
}

/* 2.5 cycles per nanosecond, from an unrelated origin. */
static uint64_t linear(uint64_t ns)
{
	return 1ull << 52 | (ns * 5 / 2);
}

static void begin_linear(struct clockmap *m, int points)
{
	memset(m, 0, sizeof(*m));
	for (int i = 1; i <= points; i++)
		clockmap_add(m, (uint64_t)i * 100 * MS, linear((uint64_t)i * 100 * MS), 40);
}

static void a_linear_clock_is_mapped_exactly(void **unused)
{
	struct clockmap m;
	uint64_t seed = 1;

	(void)unused;
	begin_linear(&m, 50);
	for (int i = 0; i < 5000; i++) {
		uint64_t ns = 100 * MS + unit_random_below(&seed, 4900 * MS);

		ns &= ~1ull; /* an even number, so that 2.5 cycles per nanosecond give whole ones */
		assert_int_equal(clockmap_cycles(&m, ns), linear(ns));
		assert_int_equal(clockmap_ns(&m, linear(ns)), ns);
	}
	assert_near(clockmap_hz(&m), 2.5e9, 1e-3);
	assert_near(clockmap_error(&m), 40, 1e-6);
	clockmap_free(&m);
}

static void times_between_whole_cycles_are_rounded(void **unused)
{
	struct clockmap m = {0};

	(void)unused;
	clockmap_add(&m, 1000, 1000, 0);
	clockmap_add(&m, 1000 + 100 * MS, 1000 + 25 * MS, 0); /* 0.25 cycles a nanosecond */
	assert_int_equal(clockmap_cycles(&m, 1001), 1000);
	assert_int_equal(clockmap_cycles(&m, 1002), 1001); /* half way: rounded up */
	assert_int_equal(clockmap_cycles(&m, 1003), 1001);
	assert_int_equal(clockmap_cycles(&m, 1004), 1001);
	clockmap_free(&m);
}

static void before_the_first_and_after_the_last_a_segment_is_continued(void **unused)
{
	struct clockmap m;

	(void)unused;
	begin_linear(&m, 5);
	assert_int_equal(clockmap_cycles(&m, 10 * MS), linear(10 * MS));
	assert_int_equal(clockmap_cycles(&m, 3000 * MS), linear(3000 * MS));
	assert_int_equal(clockmap_ns(&m, linear(10 * MS)), 10 * MS);
	assert_int_equal(clockmap_ns(&m, linear(3000 * MS)), 3000 * MS);
	assert_int_equal(clockmap_until(&m), 500 * MS);
	clockmap_free(&m);
}

static void points_out_of_order_are_left_out(void **unused)
{
	struct clockmap m;

	(void)unused;
	begin_linear(&m, 5);
	clockmap_add(&m, 300 * MS, linear(900 * MS), 0); /* time ran backwards */
	clockmap_add(&m, 500 * MS, linear(900 * MS), 0); /* the same time again */
	clockmap_add(&m, 600 * MS, linear(400 * MS), 0); /* the counter ran backwards */
	assert_int_equal(m.n, 5);
	assert_int_equal(clockmap_cycles(&m, 800 * MS), linear(800 * MS));
	clockmap_free(&m);
}

static void points_too_close_to_the_last_are_left_out(void **unused)
{
	struct clockmap m;

	(void)unused;
	begin_linear(&m, 5);
	clockmap_add(&m, 520 * MS, linear(520 * MS) + 5000, 0);
	assert_int_equal(m.n, 5);
	clockmap_add(&m, 560 * MS, linear(560 * MS), 0);
	assert_int_equal(m.n, 6);
	clockmap_free(&m);
}

/* A recording that ends at once has only two points close together: better than none. */
static void the_second_point_is_always_taken(void **unused)
{
	struct clockmap m = {0};

	(void)unused;
	clockmap_add(&m, 100 * MS, linear(100 * MS), 40);
	clockmap_add(&m, 101 * MS, linear(101 * MS), 40);
	assert_true(clockmap_valid(&m));
	assert_int_equal(clockmap_cycles(&m, 100 * MS + 500000), linear(100 * MS + 500000));
	clockmap_free(&m);
}

static void lookups_may_jump_about(void **unused)
{
	struct clockmap m;

	(void)unused;
	begin_linear(&m, 30);
	for (uint64_t i = 1; i < 30; i++) {
		uint64_t ns = (i * 7 % 29 + 1) * 100 * MS + 2;

		assert_int_equal(clockmap_cycles(&m, ns), linear(ns));
		assert_int_equal(clockmap_ns(&m, linear(ns)), ns);
	}
	clockmap_free(&m);
}

/* A counter whose rate is 50 ppm off and swings by another 20 ppm, like one that warms up. */
static double drifting(double ns)
{
	double period = 7e9;

	return 1e12 + ns * 2.6 * (1 + 50e-6) +
	       2.6 * 20e-6 * period / 6.2832 * sin(ns / period * 6.2832);
}

static void add_drifting(struct clockmap *m, uint64_t points, uint32_t half_width, uint64_t seed)
{
	for (uint64_t i = 1; i <= points; i++) {
		uint64_t ns = i * 100 * MS + unit_random_below(&seed, 10 * MS);
		double noise = (double)unit_random_below(&seed, 2 * half_width + 1) - half_width;

		clockmap_add(m, ns, (uint64_t)(drifting((double)ns) + noise), half_width);
	}
}

static void drifting_clock_stays_within_the_bound(void **unused)
{
	static const uint32_t half_widths[] = {0, 20, 200};

	(void)unused;
	for (size_t w = 0; w < COUNT(half_widths); w++) {
		struct clockmap m = {0};
		uint64_t seed = 9;

		add_drifting(&m, 150, half_widths[w], w + 1);
		assert_int_equal(m.n, 150);
		for (int i = 0; i < 5000; i++) {
			uint64_t ns = 110 * MS + unit_random_below(&seed, 14800 * MS);
			double off = (double)clockmap_cycles(&m, ns) - drifting((double)ns);

			/* one cycle for the truncation when a point is stored and mapped */
			assert_true(fabs(off) <= clockmap_error(&m) + 1);
		}
		clockmap_free(&m);
	}
}

/*
 * The bound must not be too wide: interpolating over d a clock whose rate changes by a per unit of
 * time is wrong by a d^2 / 8, and the rates of three segments give four times that.
 */
static void error_bound_is_not_too_wide(void **unused)
{
	struct clockmap m = {0};
	double a = 2.6 * 20e-6 / 7e9 * 6.2832, d = 110e6;

	(void)unused;
	add_drifting(&m, 150, 0, 1);
	assert_true(clockmap_error(&m) <= a * d * d / 2 + 1);
	clockmap_free(&m);
}

/* half-width + (spread of rates) * length / 4, computed by hand */
static void the_bound_is_that_of_the_method(void **unused)
{
	struct clockmap m = {0};

	(void)unused;
	clockmap_add(&m, 100 * MS, 1000 * MS, 10);
	clockmap_add(&m, 200 * MS, 1200 * MS, 30); /* 2 cycles a nanosecond */
	assert_near(clockmap_error(&m), 30, 1e-9);
	clockmap_add(&m, 300 * MS, 1400 * MS + 1000, 20); /* 2.00001 */
	assert_near(clockmap_error(&m), 30 + 0.00001 * 100e6 / 4, 1e-6);
	clockmap_add(&m, 500 * MS, 1800 * MS - 1000, 20); /* 1.99999, over twice the length */
	assert_near(clockmap_error(&m), 20 + 0.00002 * 200e6 / 4, 1e-6);
	clockmap_free(&m);
}

static void long_silences_are_counted(void **unused)
{
	struct clockmap m = {0};

	(void)unused;
	clockmap_add(&m, 100 * MS, 1000 * MS, 10);
	clockmap_add(&m, 160 * MS, 1120 * MS, 10);
	clockmap_add(&m, 260 * MS, 1320 * MS, 10);
	assert_int_equal(m.gaps, 0);
	clockmap_add(&m, 561 * MS, 1922 * MS, 10);
	clockmap_add(&m, 662 * MS, 2124 * MS, 10);
	assert_int_equal(m.gaps, 2);
	assert_int_equal(m.longest_ns, 301 * MS);
	clockmap_free(&m);
}

static void with_nanoseconds_only_nothing_is_turned_into_cycles(void **unused)
{
	struct clockmap m = {.ns_only = true};

	(void)unused;
	clockmap_add(&m, 100 * MS, 1000 * MS, 10);
	clockmap_add(&m, 200 * MS, 1200 * MS, 30);
	assert_int_equal(clockmap_cycles(&m, 150 * MS), 150 * MS);
	assert_int_equal(clockmap_ns(&m, 150 * MS), 150 * MS);
	assert_int_equal(clockmap_counter(&m, 1100 * MS), 150 * MS);
	assert_near(clockmap_hz(&m), 1e9, 0);
	m.ns_only = false;
	assert_int_equal(clockmap_counter(&m, 1100 * MS), 1100 * MS);
	clockmap_free(&m);
}

/* A segment that has been used is kept: it must give what another map gives that has used none. */
static void a_kept_segment_gives_what_a_look_up_gives(void **unused)
{
	static const uint64_t steps[] = {100 * MS, 41 * MS, 1ull << 45, 7777777777, 100 * MS};
	struct clockmap kept = {0}, fresh = {0};
	uint64_t ns = 5 * MS, cycles = 9 * MS, seed = 1;

	(void)unused;
	for (size_t i = 0; i < COUNT(steps); i++) {
		clockmap_add(&kept, ns, cycles, 10);
		clockmap_add(&fresh, ns, cycles, 10);
		ns += steps[i];
		cycles += steps[i] * 26 / 10 + i;
	}
	for (int i = 0; i < 10000; i++) {
		uint64_t at = unit_random_below(&seed, i % 2 ? ns + MS : 300 * MS);

		fresh.now.length_ns = 0;
		assert_int_equal(clockmap_cycles(&kept, at), clockmap_cycles(&fresh, at));
	}
	clockmap_cycles(&kept, 50 * MS);
	assert_int_not_equal(clockmap_cycles(&kept, 51 * MS), 51 * MS);
	clockmap_use_ns(&kept);
	assert_int_equal(clockmap_cycles(&kept, 51 * MS), 51 * MS);
	clockmap_free(&kept);
	clockmap_free(&fresh);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_two_points_numbers_pass_unchanged),
		cmocka_unit_test(a_linear_clock_is_mapped_exactly),
		cmocka_unit_test(times_between_whole_cycles_are_rounded),
		cmocka_unit_test(a_kept_segment_gives_what_a_look_up_gives),
		cmocka_unit_test(before_the_first_and_after_the_last_a_segment_is_continued),
		cmocka_unit_test(points_out_of_order_are_left_out),
		cmocka_unit_test(points_too_close_to_the_last_are_left_out),
		cmocka_unit_test(the_second_point_is_always_taken),
		cmocka_unit_test(lookups_may_jump_about),
		cmocka_unit_test(drifting_clock_stays_within_the_bound),
		cmocka_unit_test(error_bound_is_not_too_wide),
		cmocka_unit_test(the_bound_is_that_of_the_method),
		cmocka_unit_test(long_silences_are_counted),
		cmocka_unit_test(with_nanoseconds_only_nothing_is_turned_into_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
