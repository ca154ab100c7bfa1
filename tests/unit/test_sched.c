/* SPDX-License-Identifier: MIT */
/* Interrupts, switches and waits for a CPU. */
#include "report.h"
#include "reported.h"

#define READER 10
#define OTHER  20
#define SOCK   1

/* Feeds a recv() of nothing: U0 1000, K0 1100, K1 2100, U1 2200. */
static void around(struct core *c, void (*between)(struct core *c))
{
	feed_begin(c, ALL_HOOKS);
	ev_enter(c, 1100, READER, SOCK, MG_SYS_recvfrom, 5000);
	between(c);
	ev_exit(c, 2100, READER, SOCK, MG_SYS_recvfrom, 5000, -11);
	ev_app(c, READER, MG_FN_recv, 1000, 2200, -1);
}

static void one_in_the_other(struct core *c)
{
	ev_softirq(c, 1200, READER, true);
	ev_irq(c, 1300, READER, true);
	ev_irq(c, 1330, READER, false);
	ev_softirq(c, 1400, READER, false);
	ev_irq(c, 1500, READER, true);
	ev_irq(c, 1505, READER, false);
}

static void an_interrupt_goes_before_the_softirq_it_came_in(void **unused)
{
	const uint64_t expected[STATES] = {[STATE_ENTRY] = 100,
		[STATE_SOCKET] = 1000 - 200 - 5,
		[STATE_IRQ] = 30 + 5,
		[STATE_SOFTIRQ] = 170,
		[STATE_RETURN] = 100};
	struct core c;

	(void)unused;
	around(&c, one_in_the_other);
	assert_states(calls_of(&c, MG_FN_recv), expected);
	assert_true(calls_of(&c, MG_FN_recv)->overhead.sum == 1200 - 205); /* not the call's own */
	feed_end(&c);
}

static void switched_while_interrupted(struct core *c)
{
	ev_irq(c, 1300, READER, true); /* its end was lost */
	ev_preempt(c, 1400, 0, READER, OTHER);
	ev_switch(c, 1700, 0, OTHER, RUNNABLE, READER);
}

static void off_the_cpu_goes_before_the_interrupt(void **unused)
{
	const uint64_t expected[STATES] = {[STATE_ENTRY] = 100,
		[STATE_SOCKET] = 200 + 400,
		[STATE_IRQ] = 100,
		[STATE_PREEMPTED] = 300,
		[STATE_RETURN] = 100};
	struct core c;

	(void)unused;
	around(&c, switched_while_interrupted);
	assert_states(calls_of(&c, MG_FN_recv), expected);
	feed_end(&c);
}

static void waits_for_a_cpu_are_those_of_the_woken_and_the_preempted(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_fork(&c, 5, 1, READER, "reader");
	ev_switch(&c, 100, 0, 0, RUNNABLE, READER); /* where it came from is not known */
	ev_preempt(&c, 1000, 0, READER, OTHER);
	ev_switch(&c, 1300, 0, OTHER, RUNNABLE, READER);
	ev_switch(&c, 2000, 0, READER, SLEEPING, 0);
	ev_waking(&c, 2500, READER);
	ev_switch(&c, 2520, 0, 0, RUNNABLE, READER);
	assert_int_equal(figures_of(&c)->sched.run_queue.n, 2);
	assert_true(figures_of(&c)->sched.run_queue.sum == 300 + 20);
	assert_true(figures_of(&c)->sched.wakeup.sum == 20);
	feed_end(&c);
}

static void waits_for_a_quota_are_told_apart(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_fork(&c, 5, 1, READER, "reader");
	ev_switch(&c, 100, 0, 0, RUNNABLE, READER);
	ev_throttle(&c, 1000, 0, READER, OTHER);
	ev_switch(&c, 1300, 0, OTHER, RUNNABLE, READER);
	ev_preempt(&c, 2000, 0, READER, OTHER);
	ev_switch(&c, 2050, 0, OTHER, RUNNABLE, READER);
	assert_int_equal(figures_of(&c)->sched.run_queue.n, 2);
	assert_true(figures_of(&c)->sched.run_queue.sum == 300 + 50);
	assert_int_equal(figures_of(&c)->sched.throttled.n, 1);
	assert_true(figures_of(&c)->sched.throttled.sum == 300);
	feed_end(&c);
}

static void two_tracers_record_one_switch(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	core_expect_contents(&c, CORE_KERNEL);
	core_expect_contents(&c, CORE_KERNEL);
	ev_fork(&c, 5, 1, READER, "reader");
	ev_switch(&c, 100, 0, 0, RUNNABLE, READER);
	for (int i = 0; i < 2; i++)
		ev_preempt(&c, 1000 + i * 300, 0, READER, OTHER);
	for (int i = 0; i < 2; i++)
		ev_switch(&c, 3000 + i * 300, 0, OTHER, RUNNABLE, READER);
	assert_int_equal(figures_of(&c)->sched.run_queue.n, 1);
	assert_true(figures_of(&c)->sched.run_queue.sum == 2000);
	feed_end(&c);
}

static void a_wakeup_begins_with_getting_on_a_run_queue(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_sched_wakeup, 2508, 0);
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_fork(&c, 5, 1, READER, "reader");
	ev_switch(&c, 2000, 0, READER, SLEEPING, 0);
	ev_waking(&c, 2500, READER);
	e.sched_waking.wakee_tid = READER;
	feed(&c, &e);
	feed(&c, &e); /* once is enough */
	ev_switch(&c, 2520, 0, 0, RUNNABLE, READER);
	feed(&c, &e); /* while it runs already */
	assert_int_equal(figures_of(&c)->sched.queueing.n, 1);
	assert_true(figures_of(&c)->sched.queueing.sum == 8);
	assert_true(figures_of(&c)->sched.wakeup.sum == 20);
	feed_end(&c);
}

static void a_switch_takes_its_two_parts(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	feed_begin(&c, ALL_HOOKS ",sched_cost from,sched_cost");
	ev_switch(&c, 900, 1, OTHER, SLEEPING, READER);
	ev_switch(&c, 950, 1, OTHER, SLEEPING, READER);
	ev_switch(&c, 960, 1, OTHER, SLEEPING, READER);
	ev_switch(&c, 970, 1, READER, SLEEPING, 0);
	ev_cost(&c, 1, OTHER, READER, 200, 300, 0);
	ev_cost(&c, 1, OTHER, READER, 300, 400, 0);
	ev_cost(&c, 1, OTHER, READER, 9000, 400, 2); /* interrupted */
	j = reported(&c);
	assert_number_at(j, "scheduler.switches.0.cpu", 1);
	assert_number_at(j, "scheduler.switches.0.n", 3);
	assert_number_at(j, "scheduler.switches.0.measured", 2);
	assert_number_at(j, "scheduler.switches.0.interrupted", 1);
	assert_number_at(j, "scheduler.switches.0.mean_ns", 600);
	assert_number_at(j, "scheduler.switches.0.decide_mean_ns", 250);
	assert_number_at(j, "scheduler.switches.0.reload_mean_ns", 350);
	assert_null_at(j, "scheduler.switches.0.p99_ns"); /* of two */
	assert_null_at(j, "scheduler.switches.1.mean_ns");
	assert_null_at(j, "scheduler.no_durations");
	json_decref(j);
}

static void assert_no_durations(struct core *c, const char *why)
{
	json_t *j;

	ev_switch(c, 900, 0, OTHER, SLEEPING, READER);
	j = reported(c);
	assert_null_at(j, "scheduler.switches.0.mean_ns");
	assert_non_null(strstr(json_string_value(at(j, "scheduler.no_durations")), why));
	json_decref(j);
}

static void without_the_tracepoints_the_reason_is_told(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	assert_no_durations(&c, "--layers +switch");
	feed_begin(&c, ALL_HOOKS);
	ev_hook(&c, 1, "sched_cost", -2, 0);
	assert_no_durations(&c, "this kernel");
}

/* The thread is on a run queue in between: the bytes still belong to the same wakeup. */
static void events_of_a_wakeup_do_not_end_it(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_sched_wakeup, 510, 0);
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	ev_fork(&c, 11, 1, READER, "reader");
	ev_switch(&c, 20, 0, READER, SLEEPING, 0);
	ev_ready(&c, 500, SOCK, 5100);
	e.sched_waking.wakee_tid = OTHER;
	feed(&c, &e);
	ev_waking(&c, 520, READER);
	assert_int_equal(thread_of(&c, READER)->wake.sock, SOCK);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interrupt_goes_before_the_softirq_it_came_in),
		cmocka_unit_test(off_the_cpu_goes_before_the_interrupt),
		cmocka_unit_test(waits_for_a_cpu_are_those_of_the_woken_and_the_preempted),
		cmocka_unit_test(waits_for_a_quota_are_told_apart),
		cmocka_unit_test(two_tracers_record_one_switch),
		cmocka_unit_test(a_wakeup_begins_with_getting_on_a_run_queue),
		cmocka_unit_test(a_switch_takes_its_two_parts),
		cmocka_unit_test(without_the_tracepoints_the_reason_is_told),
		cmocka_unit_test(events_of_a_wakeup_do_not_end_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
