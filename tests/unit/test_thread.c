/* SPDX-License-Identifier: MIT */
/* The state of a thread at each instant of a call, to the cycle; the counter ticks once per ns. */
#include "feed.h"

#define READER 10
#define OTHER  20
#define SOCK   1

/*
 * Feeds a recv() of 100 bytes: U0 1000, K0 1100, ..., D 3000, K1 3100, U1 3200; `between` fills the
 * gap.
 */
static void around(struct core *c, void (*between)(struct core *c))
{
	feed_begin(c, "tcp_ready,sock_copy," SCHED_HOOKS);
	ev_opened(c, 10, SOCK, 999, 4999);
	ev_ready(c, 500, SOCK, 5100);
	ev_enter(c, 1100, READER, SOCK, MG_SYS_recvfrom, 5000);
	between(c);
	ev_copy(c, 3000, READER, SOCK, 5000, 100);
	ev_exit(c, 3100, READER, SOCK, MG_SYS_recvfrom, 5100, 100);
	ev_app(c, READER, MG_FN_recv, 1000, 3200, 100);
}

static void nothing(struct core *c)
{
	(void)c;
}

static void a_call_that_stays_on_its_cpu_has_no_waits(void **unused)
{
	const uint64_t expected[STATES] = {
		[STATE_ENTRY] = 100, [STATE_SOCKET] = 2000, [STATE_RETURN] = 100};
	struct core c;

	(void)unused;
	around(&c, nothing);
	assert_states(calls_of(&c, MG_FN_recv), expected);
	assert_int_equal(calls_of(&c, MG_FN_recv)->blocked_n, 0);
	feed_end(&c);
}

static void block(struct core *c)
{
	ev_switch(c, 1300, 0, READER, SLEEPING, 0);
	ev_waking(c, 2300, READER);
	ev_switch(c, 2800, 0, 0, RUNNABLE, READER);
}

static void a_block_is_split_at_the_waking(void **unused)
{
	const uint64_t expected[STATES] = {[STATE_ENTRY] = 100,
		[STATE_SOCKET] = 200 + 300,
		[STATE_RETURN] = 100,
		[STATE_BLOCKED] = 1000,
		[STATE_WAKEUP] = 500};
	const struct call_stats *s;
	struct core c;

	(void)unused;
	around(&c, block);
	s = calls_of(&c, MG_FN_recv);
	assert_states(s, expected);
	assert_int_equal(s->blocked_n, 1);
	assert_true(s->overhead_blocked.sum == 700);
	assert_int_equal(s->overhead.n, 0);
	assert_int_equal(rx_of(&c, SOCK)->use.blocked, 1000);
	feed_end(&c);
}

static void the_scheduler_section_has_the_same_wakeup(void **unused)
{
	struct core c;

	(void)unused;
	around(&c, block);
	assert_int_equal(figures_of(&c)->sched.wakeup.n, 1);
	assert_true(figures_of(&c)->sched.wakeup.sum == 500);
	assert_int_equal(figures_of(&c)->sched.migrations, 0);
	feed_end(&c);
}

static void block_twice(struct core *c)
{
	ev_switch(c, 1300, 0, READER, SLEEPING, OTHER);
	ev_waking(c, 1500, READER);
	ev_switch(c, 1600, 1, 0, RUNNABLE, READER);
	ev_switch(c, 1700, 1, READER, SLEEPING, 0);
	ev_waking(c, 2300, READER);
	ev_switch(c, 2400, 1, 0, RUNNABLE, READER);
}

static void blocks_add_up_and_a_call_counts_once(void **unused)
{
	const uint64_t expected[STATES] = {[STATE_ENTRY] = 100,
		[STATE_SOCKET] = 200 + 100 + 700,
		[STATE_RETURN] = 100,
		[STATE_BLOCKED] = 200 + 600,
		[STATE_WAKEUP] = 100 + 100};
	struct core c;

	(void)unused;
	around(&c, block_twice);
	assert_states(calls_of(&c, MG_FN_recv), expected);
	assert_int_equal(calls_of(&c, MG_FN_recv)->blocked_n, 1);
	assert_int_equal(figures_of(&c)->sched.wakeup.n, 2);
	assert_int_equal(figures_of(&c)->sched.migrations, 1); /* CPU 0 out, CPU 1 in */
	feed_end(&c);
}

static void preempt(struct core *c)
{
	ev_preempt(c, 1300, 0, READER, OTHER);
	ev_switch(c, 1800, 0, OTHER, SLEEPING, READER);
	ev_switch(c, 2000, 0, READER, RUNNABLE, OTHER);
	ev_switch(c, 2200, 0, OTHER, SLEEPING, READER);
}

static void a_thread_that_could_go_on_is_preempted_not_blocked(void **unused)
{
	const uint64_t expected[STATES] = {[STATE_ENTRY] = 100,
		[STATE_SOCKET] = 200 + 200 + 900,
		[STATE_RETURN] = 100,
		[STATE_PREEMPTED] = 500 + 200};
	struct core c;

	(void)unused;
	around(&c, preempt);
	assert_states(calls_of(&c, MG_FN_recv), expected);
	assert_int_equal(calls_of(&c, MG_FN_recv)->blocked_n, 0);
	assert_int_equal(figures_of(&c)->sched.wakeup.n, 0);
	feed_end(&c);
}

static void wake_early(struct core *c)
{
	ev_waking(c, 1250, READER); /* on another CPU, while it was about to sleep */
	ev_switch(c, 1300, 0, READER, RUNNABLE, OTHER);
	ev_switch(c, 1400, 0, OTHER, SLEEPING, READER);
}

static void a_waking_before_the_switch_is_no_block(void **unused)
{
	const uint64_t expected[STATES] = {[STATE_ENTRY] = 100,
		[STATE_SOCKET] = 1900,
		[STATE_RETURN] = 100,
		[STATE_PREEMPTED] = 100};
	struct core c;

	(void)unused;
	around(&c, wake_early);
	assert_states(calls_of(&c, MG_FN_recv), expected);
	assert_int_equal(calls_of(&c, MG_FN_recv)->blocked_n, 0);
	feed_end(&c);
}

static void interrupted(struct core *c)
{
	ev_softirq(c, 1500, READER, true);
	ev_packet(c, 1550, READER, MG_EVENT_ip_out, SOCK, 1000, 0); /* not caused by the call */
	ev_softirq(c, 1700, READER, false);
}

static void a_softirq_on_top_of_a_call_is_not_the_call(void **unused)
{
	const uint64_t expected[STATES] = {[STATE_ENTRY] = 100,
		[STATE_SOCKET] = 1800,
		[STATE_SOFTIRQ] = 200,
		[STATE_RETURN] = 100};
	struct core c;

	(void)unused;
	around(&c, interrupted);
	assert_states(calls_of(&c, MG_FN_recv), expected);
	feed_end(&c);
}

static void softirq_and_block(struct core *c)
{
	ev_softirq(c, 1200, READER, true); /* its end was not seen */
	ev_switch(c, 1300, 0, READER, SLEEPING, 0);
	ev_waking(c, 2300, READER);
	ev_switch(c, 2800, 0, 0, RUNNABLE, READER);
}

static void being_off_the_cpu_comes_first(void **unused)
{
	struct core c;

	(void)unused;
	around(&c, softirq_and_block);
	assert_true(calls_of(&c, MG_FN_recv)->state[STATE_BLOCKED] == 1000);
	assert_true(calls_of(&c, MG_FN_recv)->state[STATE_SOFTIRQ] == 100);
	feed_end(&c);
}

/* ---- with some of the thread's events missing ---- */

static void unseen_waking(struct core *c)
{
	ev_switch(c, 1300, 0, READER, SLEEPING, 0);
	ev_switch(c, 2800, 0, 0, RUNNABLE, READER);
}

static void unseen_arrival(struct core *c)
{
	ev_switch(c, 1300, 0, READER, SLEEPING, 0);
	ev_waking(c, 2300, READER);
}

static void unseen_leaving(struct core *c)
{
	ev_switch(c, 2800, 0, 0, RUNNABLE, READER);
}

static void unseen_return(struct core *c)
{
	ev_preempt(c, 1300, 0, READER, OTHER);
	ev_preempt(c, 1700, 0, READER, OTHER);
	ev_switch(c, 1800, 0, OTHER, SLEEPING, READER);
}

static void a_call_of_which_something_was_not_seen_has_no_overhead(void **unused)
{
	void (*const ways[])(struct core *) = {
		unseen_waking, unseen_arrival, unseen_leaving, unseen_return};

	(void)unused;
	for (size_t i = 0; i < COUNT(ways); i++) {
		const uint64_t none[STATES] = {0};
		const struct call_stats *s;
		struct core c;

		around(&c, ways[i]);
		s = calls_of(&c, MG_FN_recv);
		assert_int_equal(s->joined, 1);
		assert_int_equal(s->complete, 0);
		assert_int_equal(s->blocked_n, 0);
		assert_int_equal(s->overhead.n + s->overhead_blocked.n, 0);
		assert_states(s, none);
		feed_end(&c);
	}
}

static void woken_on_another_cpu(struct core *c)
{
	/* it had decided to sleep, which sched_switch reports only now */
	ev_waking(c, 1290, READER);
	ev_switch(c, 1300, 0, READER, SLEEPING, OTHER);
	ev_switch(c, 1400, 0, OTHER, SLEEPING, READER);
}

static void thread_woken_before_it_sleeps_waits_for_a_cpu_only(void **unused)
{
	const uint64_t expected[STATES] = {[STATE_ENTRY] = 100,
		[STATE_SOCKET] = 1900,
		[STATE_RETURN] = 100,
		[STATE_WAKEUP] = 100};
	struct core c;

	(void)unused;
	around(&c, woken_on_another_cpu);
	assert_states(calls_of(&c, MG_FN_recv), expected);
	assert_int_equal(calls_of(&c, MG_FN_recv)->blocked_n, 0);
	assert_true(figures_of(&c)->sched.wakeup.sum == 100);
	feed_end(&c);
}

#define NO_SIGNAL_ENDS 2 /* TASK_UNINTERRUPTIBLE */

static void locked_out(struct core *c)
{
	ev_switch(c, 1300, 0, READER, NO_SIGNAL_ENDS, 0);
	ev_waking(c, 1700, READER);
	ev_switch(c, 1800, 0, 0, RUNNABLE, READER);
	ev_switch(c, 2000, 0, READER, SLEEPING, 0);
	ev_waking(c, 2300, READER);
	ev_switch(c, 2400, 0, 0, RUNNABLE, READER);
}

static void a_block_for_a_lock_is_told_from_one_for_data(void **unused)
{
	struct core c;

	(void)unused;
	around(&c, locked_out);
	assert_true(calls_of(&c, MG_FN_recv)->state[STATE_BLOCKED] == 400 + 300);
	assert_true(calls_of(&c, MG_FN_recv)->locked_out == 400);
	feed_end(&c);
}

static void woken_by_a_sender(struct core *c)
{
	ev_switch(c, 1300, 0, READER, SLEEPING, OTHER);
	ev_enter(c, 1400, OTHER, 9, MG_SYS_sendto, 1);
	ev_send(c, 1500, OTHER, 9, 1, 1, 1);
	ev_packet(c, 1600, OTHER, MG_EVENT_ip_out, 9, 1, 1);
	ev_waking(c, 2300, READER);
	ev_switch(c, 2800, 1, 0, RUNNABLE, READER);
}

static void events_of_the_waker_are_counted(void **unused)
{
	struct core c;

	(void)unused;
	around(&c, woken_by_a_sender);
	assert_int_equal(calls_of(&c, MG_FN_recv)->waker_events, 4);
	feed_end(&c);
}

/* Waits between U0 and K0, and between K1 and U1, are outside the system call but in the call. */
static void waits_outside_the_system_call_count_too(void **unused)
{
	const uint64_t expected[STATES] = {[STATE_ENTRY] = 100 + 50 + 30,
		[STATE_SOCKET] = 200,
		[STATE_RETURN] = 60 + 40,
		[STATE_PREEMPTED] = 300,
		[STATE_SOFTIRQ] = 20};
	struct core c;

	(void)unused;
	feed_begin(&c, "tcp_ready,sock_copy," SCHED_HOOKS);
	ev_fork(&c, 5, 1, READER, "reader"); /* so that its switches are followed */
	ev_switch(&c, 1100, 0, READER, RUNNABLE, OTHER);
	ev_switch(&c, 1400, 0, OTHER, RUNNABLE, READER);
	ev_softirq(&c, 1450, READER, true);
	ev_softirq(&c, 1470, READER, false);
	ev_enter(&c, 1500, READER, SOCK, MG_SYS_recvfrom, 5000);
	ev_exit(&c, 1700, READER, SOCK, MG_SYS_recvfrom, 5000, -11);
	ev_app(&c, READER, MG_FN_recv, 1000, 1800, -1);
	assert_states(calls_of(&c, MG_FN_recv), expected);
	feed_end(&c);
}

static void a_wait_on_the_way_back_counts_too(void **unused)
{
	const uint64_t expected[STATES] = {[STATE_ENTRY] = 100,
		[STATE_SOCKET] = 100,
		[STATE_RETURN] = 50 + 100,
		[STATE_PREEMPTED] = 650};
	struct core c;

	(void)unused;
	feed_begin(&c, "tcp_ready,sock_copy," SCHED_HOOKS);
	ev_enter(&c, 1100, READER, SOCK, MG_SYS_recvfrom, 5000);
	ev_exit(&c, 1200, READER, SOCK, MG_SYS_recvfrom, 5000, -11);
	ev_switch(&c, 1250, 0, READER, RUNNABLE, OTHER);
	ev_switch(&c, 1900, 0, OTHER, RUNNABLE, READER);
	ev_app(&c, READER, MG_FN_recv, 1000, 2000, -1);
	assert_states(calls_of(&c, MG_FN_recv), expected);
	feed_end(&c);
}

/* A state that began before the call continues into it. */
static void waits_between_calls_do_not_count(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, "tcp_ready,sock_copy," SCHED_HOOKS);
	for (uint64_t t = 10000; t < 1000000; t += 1000) { /* more than are kept */
		ev_enter(&c, t + 100, READER, SOCK, MG_SYS_recvfrom, 5000);
		ev_exit(&c, t + 200, READER, SOCK, MG_SYS_recvfrom, 5000, -11);
		ev_app(&c, READER, MG_FN_recv, t, t + 300, -1);
		ev_switch(&c, t + 400, 0, READER, SLEEPING, 0);
		ev_waking(&c, t + 500, READER);
		ev_switch(&c, t + 600, 0, 0, RUNNABLE, READER);
	}
	assert_true(calls_of(&c, MG_FN_recv)->state[STATE_ENTRY] == 990 * 100);
	assert_true(calls_of(&c, MG_FN_recv)->state[STATE_RETURN] == 990 * 100);
	assert_true(calls_of(&c, MG_FN_recv)->state[STATE_BLOCKED] == 0);
	assert_int_equal(figures_of(&c)->sched.wakeup.n, 990);
	feed_end(&c);
}

static void an_untraced_thread_is_not_followed(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_switch(&c, 100, 0, OTHER, SLEEPING, 0);
	ev_switch(&c, 300, 1, 0, RUNNABLE, OTHER); /* its wakeup was not recorded */
	assert_int_equal(figures_of(&c)->sched.wakeup.n, 0);
	assert_int_equal(figures_of(&c)->sched.migrations, 0);
	feed_end(&c);
}

static void switches_are_told_apart_by_what_runs_before_and_after(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_switch(&c, 100, 0, OTHER, SLEEPING, 0);
	ev_switch(&c, 200, 0, 0, RUNNABLE, OTHER);
	ev_switch(&c, 300, 0, OTHER, SLEEPING, READER);
	ev_switch(&c, 400, 2, READER, SLEEPING, 0);
	ev_switch(&c, 500, -1, READER, SLEEPING, 0);       /* CPU not known */
	ev_switch(&c, 600, CPUS_MAX, READER, SLEEPING, 0); /* an impossible CPU */
	assert_int_equal(figures_of(&c)->sched.switches[0 * SWITCH_KINDS + SWITCH_TO_IDLE].n, 1);
	assert_int_equal(figures_of(&c)->sched.switches[0 * SWITCH_KINDS + SWITCH_FROM_IDLE].n, 1);
	assert_int_equal(figures_of(&c)->sched.switches[0 * SWITCH_KINDS + SWITCH_TASK_TASK].n, 1);
	assert_int_equal(figures_of(&c)->sched.switches[2 * SWITCH_KINDS + SWITCH_TO_IDLE].n, 1);
	assert_int_equal(figures_of(&c)->sched.cpus, 3);
	feed_end(&c);
}

static void sending_walks_through_the_layers(void **unused)
{
	const uint64_t expected[STATES] = {[STATE_ENTRY] = 100,
		[STATE_SOCKET] = 100,
		[STATE_TCP] = 100 + 100,
		[STATE_IP] = 200,
		[STATE_DEVICE] = 200,
		[STATE_RETURN] = 100};
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	feed_send(&c, READER, SOCK, 1000, 1448, 1000, 100);
	assert_states(calls_of(&c, MG_FN_send), expected);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_that_stays_on_its_cpu_has_no_waits),
		cmocka_unit_test(a_block_is_split_at_the_waking),
		cmocka_unit_test(the_scheduler_section_has_the_same_wakeup),
		cmocka_unit_test(blocks_add_up_and_a_call_counts_once),
		cmocka_unit_test(a_thread_that_could_go_on_is_preempted_not_blocked),
		cmocka_unit_test(a_waking_before_the_switch_is_no_block),
		cmocka_unit_test(a_softirq_on_top_of_a_call_is_not_the_call),
		cmocka_unit_test(being_off_the_cpu_comes_first),
		cmocka_unit_test(a_call_of_which_something_was_not_seen_has_no_overhead),
		cmocka_unit_test(thread_woken_before_it_sleeps_waits_for_a_cpu_only),
		cmocka_unit_test(a_block_for_a_lock_is_told_from_one_for_data),
		cmocka_unit_test(events_of_the_waker_are_counted),
		cmocka_unit_test(waits_outside_the_system_call_count_too),
		cmocka_unit_test(a_wait_on_the_way_back_counts_too),
		cmocka_unit_test(waits_between_calls_do_not_count),
		cmocka_unit_test(an_untraced_thread_is_not_followed),
		cmocka_unit_test(switches_are_told_apart_by_what_runs_before_and_after),
		cmocka_unit_test(sending_walks_through_the_layers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
