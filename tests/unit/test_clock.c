/* SPDX-License-Identifier: MIT */
#include "clock.h"
#include "cycles.h"
#include "unit.h"

static void monotonic_time_does_not_run_backwards(void **unused)
{
	uint64_t last = mg_monotonic_ns();

	(void)unused;
	assert_true(last > 0);
	for (int i = 0; i < 1000; i++) {
		uint64_t now = mg_monotonic_ns();

		assert_true(now >= last);
		last = now;
	}
}

static void a_sync_point_lies_between_the_readings_around_it(void **unused)
{
	uint64_t ns = mg_monotonic_ns(), cycles = mg_cycles();
	struct mg_clock_sync s;

	(void)unused;
	mg_clock_sync_read(&s, 100);
	assert_in_range(s.mono_ns, ns, mg_monotonic_ns());
	assert_in_range(s.cycles, cycles, mg_cycles());
	assert_true(s.half_width > 0);
	assert_true(s.half_width <= mg_cycles() - cycles);
}

static void more_tries_are_not_needed_for_one_point(void **unused)
{
	struct mg_clock_sync s;

	(void)unused;
	mg_clock_sync_read(&s, 1);
	assert_true(s.cycles > 0 && s.mono_ns > 0);
}

/* A busy machine delays single readings, so only the narrowest of many must be narrow. */
static void the_narrowest_of_many_is_narrow(void **unused)
{
	uint64_t hz = mg_counter_hz(10);
	struct mg_clock_sync s;

	(void)unused;
	mg_clock_sync_read(&s, 10000);
	assert_true(s.half_width < hz / 10000); /* 100 us */
}

static void the_frequency_is_that_of_two_points(void **unused)
{
	struct mg_clock_sync a, b;
	double hz, again;

	(void)unused;
	mg_clock_sync_read(&a, 100);
	hz = (double)mg_counter_hz(20);
	mg_clock_sync_read(&b, 100);
	again = (double)(b.cycles - a.cycles) * 1e9 / (double)(b.mono_ns - a.mono_ns);
	assert_true(hz > 1e6 && hz < 1e11);
	assert_near(hz / again, 1, 0.01);
}

static void a_counter_that_cannot_be_trusted_has_a_reason(void **unused)
{
	const char *why = "untouched";

	(void)unused;
	if (mg_counter_invariant(&why))
		assert_null(why);
	else
		assert_true(why && strlen(why) > 0);
	assert_int_equal(mg_counter_invariant(NULL), why == NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(monotonic_time_does_not_run_backwards),
		cmocka_unit_test(a_sync_point_lies_between_the_readings_around_it),
		cmocka_unit_test(more_tries_are_not_needed_for_one_point),
		cmocka_unit_test(the_narrowest_of_many_is_narrow),
		cmocka_unit_test(the_frequency_is_that_of_two_points),
		cmocka_unit_test(a_counter_that_cannot_be_trusted_has_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
