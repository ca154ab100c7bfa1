/* SPDX-License-Identifier: MIT */
/* What the core makes of counters that differ, or cannot be trusted. */
#include "report.h"
#include "reported.h"

static void ev_clock_cpus(struct core *c, uint32_t cpu, int64_t low, int64_t high)
{
	struct mg_event e = feed_event(MG_EVENT_clock_cpus, 1, 0);

	e.clock_cpus.cpu = cpu;
	e.clock_cpus.offset_low = low;
	e.clock_cpus.offset_high = high;
	feed(c, &e);
}

static void enter_and_exit(struct core *c, int cpu, uint64_t enter, uint64_t leave)
{
	struct mg_event e = feed_event(MG_EVENT_sys_enter, enter, 7);

	e.cpu = (int16_t)cpu;
	e.sys_enter.call = MG_SYS_recvfrom;
	e.sys_enter.kind = MG_KIND_tcp;
	feed(c, &e);
	e = feed_event(MG_EVENT_sys_exit, leave, 7);
	e.cpu = (int16_t)cpu;
	e.sys_exit.call = MG_SYS_recvfrom;
	feed(c, &e);
}

/* Kernel and program read the same counter: both are moved, and still nest. */
static void a_cpu_that_is_ahead_is_set_back(void **unused)
{
	const uint64_t expected[STATES] = {
		[STATE_ENTRY] = 100, [STATE_SOCKET] = 200, [STATE_RETURN] = 50};
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_clock_cpus(&c, 1, 900, 1100);
	enter_and_exit(&c, 1, 10100, 10300);
	assert_int_equal(thread_of(&c, 7)->ended[0].enter, 9100);
	ev_app(&c, 7, MG_FN_recv, 10000, 10350, 1);
	assert_int_equal(c.unjoined, 0);
	assert_states(calls_of(&c, MG_FN_recv), expected);
	enter_and_exit(&c, 0, 20100, 20300);
	assert_int_equal(thread_of(&c, 7)->ended[0].enter, 20100);
	feed_end(&c);
}

static void the_bound_between_cpus_is_reported(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	feed_begin_uncertain(&c, ALL_HOOKS, 20);
	ev_clock_cpus(&c, 1, -356, 148);
	assert_near(core_clock_error(&c), 20 + 356, 0);
	enter_and_exit(&c, 1, 10100, 10300);
	ev_app(&c, 7, MG_FN_recv, 10000, 10350, 1);
	j = reported(&c);
	assert_number_at(j, "clock.max_error_ns", 20);
	assert_number_at(j, "clock.cpu_offset_ns", 356);
	json_decref(j);
}

/* Half a cycle a nanosecond, then two: figures are those of the kernel's clock all the same. */
static void a_counter_of_no_constant_rate_gives_nanoseconds_only(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_calibration, 1, 0);
	struct core c;
	json_t *j;

	(void)unused;
	core_init(&c);
	e.calibration.counter_hz = 500000000;
	e.calibration.event_cycles = 10;
	feed(&c, &e);
	ev_hook(&c, 1, "sched_switch", 0, 0);
	ev_sync(&c, 100000000, 50000000, 5);
	enter_and_exit(&c, 0, 110000000, 110000400);
	ev_app(&c, 7, MG_FN_recv, 54999900, 55000300, 1); /* 109 999 800 to 110 000 600 */
	ev_sync(&c, 200000000, 100000000, 5);
	enter_and_exit(&c, 0, 210000000, 210000400);
	ev_app(&c, 7, MG_FN_recv, 119999600, 120001200, 1);
	ev_sync(&c, 300000000, 300000000, 5);
	assert_int_equal(c.unjoined, 0);
	j = reported(&c);
	assert_null_at(j, "session.tsc_hz");
	assert_null_at(j, "clock.max_error_ns");
	assert_null_at(j, "clock.cpu_offset_ns");
	assert_null_at(j, "calls.0.overhead_ns.uncertainty");
	assert_true(json_is_true(at(j, "clock.ns_only")));
	assert_number_at(j, "calls.0.total_ns.mean", 800);
	assert_number_at(j, "calls.0.states_ns.socket", 400);
	assert_number_at(j, "tracer.kernel_cost_ns_per_event", 20);
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cpu_that_is_ahead_is_set_back),
		cmocka_unit_test(the_bound_between_cpus_is_reported),
		cmocka_unit_test(a_counter_of_no_constant_rate_gives_nanoseconds_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
