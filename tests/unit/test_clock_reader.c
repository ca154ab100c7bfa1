/* SPDX-License-Identifier: MIT */
/* The threads that read the clock and compare the CPUs' counters. */
#define _GNU_SOURCE
#include <sched.h>
#include <unistd.h>

#include "clock.h"
#include "clock/clock_cpus.h"
#include "clock/clock_reader.h"
#include "unit.h"

static void the_first_and_the_last_reading_are_always_there(void **unused)
{
	uint64_t before = mg_monotonic_ns(), after, last = 0;
	struct clock_reader *r;
	struct mg_clock_sync one;
	int n = 0;

	(void)unused;
	assert_int_equal(clock_reader_start(&r), 0);
	while (!clock_reader_take(r, &one))
		sched_yield();
	assert_true(one.mono_ns >= before);
	clock_reader_stop(r);
	after = mg_monotonic_ns();
	while (clock_reader_take(r, &one)) {
		assert_true(one.mono_ns > last);
		assert_true(one.cycles > 0 && one.half_width > 0);
		last = one.mono_ns;
		n++;
	}
	assert_true(n >= 1);
	assert_in_range(last, before, after);
	clock_reader_stop(r); /* a second call is harmless */
	clock_reader_free(r);
}

static void readings_that_nobody_takes_are_kept_in_order(void **unused)
{
	struct clock_reader *r;
	struct mg_clock_sync one;
	int n = 0;

	(void)unused;
	/* the thread may get no CPU for a while */
	for (useconds_t pause = 100000; n < 2 && pause < 20000000; pause *= 2) {
		uint64_t last = 0;

		assert_int_equal(clock_reader_start(&r), 0);
		usleep(pause);
		clock_reader_stop(r);
		for (n = 0; clock_reader_take(r, &one); n++) {
			assert_true(one.mono_ns > last);
			last = one.mono_ns;
		}
		clock_reader_free(r);
	}
	assert_true(n >= 2);
}

struct told {
	int n;
	bool sound;
};

static void tell(void *arg, const struct mg_clock_cpus *one)
{
	struct told *t = arg;

	t->n++;
	t->sound = t->sound && one->offset_low <= one->offset_high && one->cpu != one->ref;
}

/* A busy CPU may not answer; the reported values must be plausible. */
static void every_cpu_is_compared_at_most_once(void **unused)
{
	struct told t = {0, true};
	struct clock_cpus *c;
	cpu_set_t all;

	(void)unused;
	assert_int_equal(sched_getaffinity(0, sizeof(all), &all), 0);
	for (int i = 0; i < 500 && !t.n; i++) {
		if (i)
			usleep(20000); /* the threads that kept the CPUs may have ended by then */
		assert_int_equal(clock_cpus_start(&c), 0);
		clock_cpus_end(c, tell, &t);
	}
	assert_true(t.sound);
	if (CPU_COUNT(&all) > 1)
		assert_true(t.n >= 1);
	else
		assert_int_equal(t.n, 0);
}

static void reader_that_was_not_started_needs_no_stop(void **unused)
{
	(void)unused;
	clock_cpus_end(NULL, tell, NULL);
	clock_reader_stop(NULL);
	clock_reader_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_and_the_last_reading_are_always_there),
		cmocka_unit_test(readings_that_nobody_takes_are_kept_in_order),
		cmocka_unit_test(every_cpu_is_compared_at_most_once),
		cmocka_unit_test(reader_that_was_not_started_needs_no_stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
