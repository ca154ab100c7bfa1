/* SPDX-License-Identifier: MIT */
/* The core with counters that differ, or that cannot be trusted. */
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

/* Kernel and program read the same counter: both are shifted, and still nest. */
static void a_cpu_that_is_ahead_is_set_back(void **unused)
{
	const uint64_t expected[STATES] = {
		[STATE_ENTRY] = 100, [STATE_SOCKET] = 200, [STATE_RETURN] = 50};
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_clock_cpus(&c, 1, 900, 1100);
	enter_and_exit(&c, 1, 10100, 10300);
	assert_int_equal(thread_of(&c, 7)->done.call[0].enter, 9100);
	ev_app(&c, 7, MG_FN_recv, 10000, 10350, 1);
	assert_int_equal(c.checks.unjoined, 0);
	assert_states(calls_of(&c, MG_FN_recv), expected);
	enter_and_exit(&c, 0, 20100, 20300);
	assert_int_equal(thread_of(&c, 7)->done.call[0].enter, 20100);
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

/* Half a cycle per nanosecond, then two: figures still follow the kernel's clock. */
static void a_counter_of_no_constant_rate_gives_nanoseconds_only(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_calibration, 1, 0);
	struct core c;
	json_t *j;

	(void)unused;
	core_init(&c);
	figures_attach(&c);
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
	assert_int_equal(c.checks.unjoined, 0);
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

/* Feeds a call of 2 us at `ns`, whose event is written `delay` ns after it. 2.1 cycles per ns. */
static void call_of_its_own_clock(struct core *c, uint32_t tid, uint64_t ns, uint64_t delay)
{
	struct mg_event e = feed_event(MG_APP_BASE + MG_FN_send, ns + 2000 + delay, tid);

	e.call.enter = 1000 + ns * 21 / 10;
	e.call.exit = 1000 + (ns + 2000) * 21 / 10;
	e.call.tid = e.call.pid = tid;
	e.call.ret = 1;
	e.call.kind = MG_KIND_tcp;
	feed(c, &e);
}

static double rate_off_ppm(const json_t *j)
{
	return fabs(json_number_value(at(j, "session.tsc_hz")) / 2.1e9 - 1) * 1e6;
}

/* An LTTng session without a kernel side: 1 ms, whose first event is written 15 us late. */
static void without_readings_calls_give_the_rate_and_its_bound(void **unused)
{
	struct core c;
	double bound;
	json_t *j;

	(void)unused;
	core_init(&c);
	figures_attach(&c);
	for (uint64_t i = 0; i < 100; i++)
		call_of_its_own_clock(&c, 7 + i % 2, 1000000 + i * 10000, i ? 300 + i % 7 : 15000);
	j = reported(&c);
	assert_string_equal(json_string_value(at(j, "clock.source")), "events");
	bound = json_number_value(at(j, "clock.rate_error_ppm"));
	assert_in_range((uint64_t)bound, 1, 21000); /* 18 us until the thread calls again */
	assert_true(rate_off_ppm(j) <= bound);
	assert_true(json_number_value(at(j, "clock.max_error_ns")) < 25000);
	assert_null_at(j, "clock.no_max_error");
	json_decref(j);
}

/* The longer the session, the better the rate is known. */
static void readings_guessed_by_calls_go_on_with_the_session(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	core_init(&c);
	figures_attach(&c);
	for (uint64_t i = 0; i < 20000; i++)
		call_of_its_own_clock(&c, 7, 1000000 + i * 1000000, 400);
	j = reported(&c);
	assert_true(json_integer_value(at(j, "clock.points")) > 5);
	assert_true(json_number_value(at(j, "clock.rate_error_ppm")) < 100);
	assert_true(rate_off_ppm(j) <= json_number_value(at(j, "clock.rate_error_ppm")));
	json_decref(j);
}

static void without_a_bound_of_the_clock_the_report_says_why(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	core_init(&c);
	figures_attach(&c);
	call_of_its_own_clock(&c, 7, 1000000, 400);
	call_of_its_own_clock(&c, 8, 2000000, 400); /* no thread has made two calls */
	j = reported(&c);
	assert_string_equal(json_string_value(at(j, "clock.source")), "events");
	assert_null_at(j, "clock.max_error_ns");
	assert_null_at(j, "clock.rate_error_ppm");
	assert_non_null(strstr(json_string_value(at(j, "clock.no_max_error")), "first and"));
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cpu_that_is_ahead_is_set_back),
		cmocka_unit_test(the_bound_between_cpus_is_reported),
		cmocka_unit_test(a_counter_of_no_constant_rate_gives_nanoseconds_only),
		cmocka_unit_test(without_readings_calls_give_the_rate_and_its_bound),
		cmocka_unit_test(readings_guessed_by_calls_go_on_with_the_session),
		cmocka_unit_test(without_a_bound_of_the_clock_the_report_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
