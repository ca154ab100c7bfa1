/* SPDX-License-Identifier: MIT */
/* Joining the program's calls with the system calls inside them. */
#include "feed.h"

#define TID  10
#define SOCK 1

static void open_core(struct core *c)
{
	feed_begin(c, ALL_HOOKS);
	ev_opened(c, 10, SOCK, 999, 4999);
}

/* Feeds a call with no other events inside: U0 K0 K1 U1. */
static void plain(struct core *c, int fn, int call, const uint64_t t[4], int64_t ret)
{
	ev_enter(c, t[1], TID, SOCK, call, 0);
	ev_exit(c, t[2], TID, SOCK, call, 0, ret);
	ev_app(c, TID, fn, t[0], t[3], ret);
}

static void a_send_is_joined_with_its_system_call(void **unused)
{
	const struct call_stats *s;
	struct core c;

	(void)unused;
	open_core(&c);
	feed_send(&c, TID, SOCK, 1000, 1448, 10000, 100);
	s = calls_of(&c, MG_FN_send);
	assert_int_equal(s->n, 1);
	assert_int_equal(s->joined, 1);
	assert_int_equal(s->failed, 0);
	assert_int_equal(s->bytes, 1448);
	assert_int_equal(c.checks.unjoined, 0);
	assert_true(s->total.sum == 900);
	assert_true(s->overhead.sum == 900); /* no calibration: nothing is taken off */
	assert_int_equal(calls_of(&c, CALL_KERNEL_ONLY | MG_SYS_sendto)->n, 0);
	feed_end(&c);
}

static void the_states_of_a_call_sum_to_its_time(void **unused)
{
	const struct call_stats *s;
	uint64_t sum = 0;
	struct core c;

	(void)unused;
	open_core(&c);
	for (uint64_t i = 0; i < 20; i++)
		feed_send(
			&c, TID, SOCK, (uint32_t)(1000 + i * 100), 100, 10000 + i * 5000, 100 + i);
	s = calls_of(&c, MG_FN_send);
	for (int i = 0; i < STATES; i++)
		sum += (uint64_t)s->state[i];
	assert_int_equal(sum, 9 * (20 * 100 + 190));
	assert_true(s->total.sum == sum);
	assert_int_equal(c.checks.state_mismatch, 0);
	feed_end(&c);
}

/*
 * Eight events at 10 cycles and one pair of readings at 7; u^2 = 8 * 3^2 + (8 * 2)^2
 * + (6 * 10 / 2)^2 / 3 + 5^2.
 */
static void tracing_overhead_is_taken_off(void **unused)
{
	const struct call_stats *s;
	struct mg_event p;
	struct core c;

	(void)unused;
	open_core(&c);
	p = feed_event(MG_EVENT_calibration, 1, 0);
	p.calibration = (struct mg_calibration){.read_cycles = 7,
		.event_cycles = 10,
		.event_spread = 2,
		.invariant = 1,
		.event_scatter = 3,
		.system_cycles = 5,
		.copies = 5};
	feed(&c, &p);
	feed_send(&c, TID, SOCK, 1000, 1448, 10000, 100);
	s = calls_of(&c, MG_FN_send);
	assert_true(s->overhead.sum == 900 - 87);
	assert_true(s->probe_cycles == 80);
	assert_true(s->reading_cycles == 7);
	assert_near(s->uncertainty, 2 * sqrt(72 + 256 + 300 + 25), 1e-9);
	feed_end(&c);
}

static void no_more_is_taken_off_than_there_is(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	ev_calibration(&c, 7, 1000, 2);
	feed_send(&c, TID, SOCK, 1000, 1448, 10000, 100);
	assert_true(calls_of(&c, MG_FN_send)->overhead.sum == 0);
	assert_true(calls_of(&c, MG_FN_send)->probe_cycles == 893);
	feed_end(&c);
}

static void a_call_that_fails_moves_nothing(void **unused)
{
	static const uint64_t t[] = {1000, 1100, 1200, 1300};
	struct core c;

	(void)unused;
	open_core(&c);
	plain(&c, MG_FN_send, MG_SYS_sendto, t, -11);
	assert_int_equal(calls_of(&c, MG_FN_send)->n, 1);
	assert_int_equal(calls_of(&c, MG_FN_send)->joined, 1);
	assert_int_equal(calls_of(&c, MG_FN_send)->failed, 1);
	assert_int_equal(calls_of(&c, MG_FN_send)->bytes, 0);
	feed_end(&c);
}

/* connect() and close() return 0, which is no number of bytes. */
static void only_sends_and_receives_have_bytes(void **unused)
{
	static const uint64_t t[] = {1000, 1100, 1200, 1300};
	struct core c;

	(void)unused;
	open_core(&c);
	plain(&c, MG_FN_accept, MG_SYS_accept, t, 7);
	assert_int_equal(calls_of(&c, MG_FN_accept)->n, 1);
	assert_int_equal(calls_of(&c, MG_FN_accept)->bytes, 0);
	feed_end(&c);
}

static void without_its_system_call_a_call_still_counts(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	ev_app(&c, TID, MG_FN_send, 1000, 1300, 500);
	assert_int_equal(c.checks.unjoined, 1);
	assert_int_equal(calls_of(&c, MG_FN_send)->n, 1);
	assert_int_equal(calls_of(&c, MG_FN_send)->joined, 0);
	assert_int_equal(calls_of(&c, MG_FN_send)->bytes, 500);
	assert_true(calls_of(&c, MG_FN_send)->total.sum == 300);
	feed_end(&c);
}

static void a_system_call_outside_the_call_is_not_its_own(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	ev_enter(&c, 500, TID, SOCK, MG_SYS_sendto, 0);
	ev_exit(&c, 600, TID, SOCK, MG_SYS_sendto, 0, -11);
	ev_app(&c, TID, MG_FN_send, 1000, 1300, -1);
	assert_int_equal(c.checks.unjoined, 1);
	feed_end(&c);
}

static void another_threads_system_call_is_not_its_own(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	ev_enter(&c, 1100, TID + 1, SOCK, MG_SYS_sendto, 0);
	ev_exit(&c, 1200, TID + 1, SOCK, MG_SYS_sendto, 0, -11);
	ev_app(&c, TID, MG_FN_send, 1000, 1300, -1);
	assert_int_equal(c.checks.unjoined, 1);
	feed_end(&c);
}

/*
 * A signal interrupts recv(); its handler writes. The handler's event comes first and must not get
 * the system call of the recv(), nor the recv() that of the write().
 */
static void a_signal_handlers_call_nests_inside_another(void **unused)
{
	const uint64_t inner[STATES] = {
		[STATE_ENTRY] = 50, [STATE_SOCKET] = 100, [STATE_RETURN] = 50};
	const uint64_t outer[STATES] = {[STATE_ENTRY] = 100,
		[STATE_SOCKET] = 400,
		[STATE_RETURN] = 200,
		[STATE_SIGNAL] = 200};
	struct core c;

	(void)unused;
	open_core(&c);
	ev_enter(&c, 1100, TID, SOCK, MG_SYS_recvfrom, 5000);
	ev_exit(&c, 1500, TID, SOCK, MG_SYS_recvfrom, 5000, -4);
	ev_enter(&c, 1650, TID, 2, MG_SYS_write, 0);
	ev_exit(&c, 1750, TID, 2, MG_SYS_write, 0, -32);
	ev_app(&c, TID, MG_FN_write, 1600, 1800, -1);
	ev_app(&c, TID, MG_FN_recv, 1000, 1900, -1);
	assert_int_equal(c.checks.unjoined, 0);
	assert_states(calls_of(&c, MG_FN_write), inner);
	assert_states(calls_of(&c, MG_FN_recv), outer);
	feed_end(&c);
}

/* With SA_RESTART the kernel enters the call again: the first wait is still a wait, no overhead. */
static void a_call_restarted_after_a_signal_keeps_its_first_wait(void **unused)
{
	const struct call_stats *s;
	struct core c;

	(void)unused;
	open_core(&c);
	ev_enter(&c, 1100, TID, SOCK, MG_SYS_recvfrom, 5000);
	ev_switch(&c, 1200, 0, TID, SLEEPING, 0);
	ev_waking(&c, 9000, TID);
	ev_switch(&c, 9100, 0, 0, RUNNABLE, TID);
	ev_exit(&c, 9200, TID, SOCK, MG_SYS_recvfrom, 5000, -512); /* ERESTARTSYS */
	ev_enter(&c, 9500, TID, SOCK, MG_SYS_recvfrom, 5000);
	ev_exit(&c, 9600, TID, SOCK, MG_SYS_recvfrom, 5000, -11);
	ev_app(&c, TID, MG_FN_recv, 1000, 9700, -1);
	s = calls_of(&c, MG_FN_recv);
	assert_true(s->state[STATE_BLOCKED] == 7800);
	assert_true(s->state[STATE_WAKEUP] == 100);
	assert_int_equal(s->blocked_n, 1);
	feed_end(&c);
}

static void calls_without_an_application_event_are_kept_apart(void **unused)
{
	const struct call_stats *s;
	struct core c;

	(void)unused;
	open_core(&c);
	for (uint64_t i = 0; i < 20; i++)
		feed_send_kernel(
			&c, TID, SOCK, (uint32_t)(1000 + i * 100), 100, 10000 + i * 2000, 100);
	s = calls_of(&c, CALL_KERNEL_ONLY | MG_SYS_sendto);
	assert_in_range(s->n, 12, 19); /* the latest calls may still get their events */
	core_finish(&c);
	assert_int_equal(s->n, 20);
	assert_int_equal(s->bytes, 2000);
	assert_true(s->total.sum == 20 * 700);
	assert_int_equal(calls_of(&c, MG_FN_send)->n, 0);
	assert_int_equal(tx_of(&c, SOCK)->use.kernel_only, 2000);
	assert_int_equal(tx_of(&c, SOCK)->complete, 2000);
	feed_end(&c);
}

static void kinds_of_socket_are_kept_apart(void **unused)
{
	struct mg_event e = feed_event(MG_APP_BASE + MG_FN_send, 200, TID);
	struct core c;

	(void)unused;
	open_core(&c);
	ev_app(&c, TID, MG_FN_send, 100, 150, 10);
	e.call = (struct mg_call){
		.enter = 160, .exit = 190, .ret = 20, .tid = TID, .kind = MG_KIND_udp};
	feed(&c, &e);
	assert_int_equal(HASH_COUNT(figures_of(&c)->calls.calls), 2);
	assert_int_equal(calls_of(&c, MG_FN_send)->bytes, 10);
	feed_end(&c);
}

static void an_exit_without_its_entry_is_nothing(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	ev_exit(&c, 1200, TID, SOCK, MG_SYS_recvfrom, 5100, 100);
	assert_null(figures_of(&c)->calls.calls);
	feed_end(&c);
}

/* A lost exit must not leave the socket waiting for a call that never ends. */
static void an_entry_without_its_exit_is_given_up_at_the_next(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	ev_enter(&c, 1000, TID, SOCK, MG_SYS_sendto, 1000);
	ev_send(&c, 1100, TID, SOCK, 1000, 100, 1000);
	feed_send(&c, TID, SOCK, 1100, 100, 2000, 100);
	assert_int_equal(calls_of(&c, MG_FN_send)->joined, 1);
	assert_int_equal(tx_of(&c, SOCK)->use.open, 0);
	feed_end(&c);
}

/* K0 may seem to lie a little before U0, and K1 after U1: the clocks agree within a bound only. */
static void within_the_clocks_bound_timestamps_are_clamped(void **unused)
{
	const uint64_t expected[STATES] = {[STATE_SOCKET] = 95};
	struct core c;

	(void)unused;
	feed_begin_uncertain(&c, ALL_HOOKS, 30);
	ev_enter(&c, 990, TID, SOCK, MG_SYS_sendto, 0);
	ev_exit(&c, 1100, TID, SOCK, MG_SYS_sendto, 0, -11);
	ev_app(&c, TID, MG_FN_send, 1000, 1095, -1);
	assert_int_equal(calls_of(&c, MG_FN_send)->joined, 1);
	assert_states(calls_of(&c, MG_FN_send), expected);
	feed_end(&c);
}

static void beyond_the_bound_it_is_another_call(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin_uncertain(&c, ALL_HOOKS, 30);
	ev_enter(&c, 960, TID, SOCK, MG_SYS_sendto, 0);
	ev_exit(&c, 1050, TID, SOCK, MG_SYS_sendto, 0, -11);
	ev_app(&c, TID, MG_FN_send, 1000, 1095, -1);
	assert_int_equal(c.checks.unjoined, 1);
	feed_end(&c);
}

/* With a poor clock a short call may even seem to lie outside altogether; states must still sum. */
static void a_call_beside_its_system_call_still_adds_up(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin_uncertain(&c, ALL_HOOKS, 500);
	ev_enter(&c, 1200, TID, SOCK, MG_SYS_sendto, 0);
	ev_exit(&c, 1260, TID, SOCK, MG_SYS_sendto, 0, -11);
	ev_app(&c, TID, MG_FN_send, 1000, 1100, -1);
	assert_int_equal(c.checks.state_mismatch, 0);
	feed_end(&c);
}

static void cost_of_logging_comes_from_the_calls(void **unused)
{
	struct mg_event e = feed_event(MG_APP_BASE + MG_FN_recv, 200, TID);
	struct core c;

	(void)unused;
	open_core(&c);
	e.call = (struct mg_call){.enter = 100, .exit = 150, .tid = TID, .kind = MG_KIND_tcp};
	feed(&c, &e); /* not measured */
	e.call.logged = 400;
	feed(&c, &e);
	e.call.logged = 600;
	feed(&c, &e);
	assert_int_equal(figures_of(&c)->calls.logged.n, 2);
	assert_near(dist_mean(&figures_of(&c)->calls.logged), 500, 0);
	feed_end(&c);
}

static void the_threads_that_use_a_flow_are_counted(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	for (uint32_t i = 0; i < 12; i++)
		feed_send(&c, TID + i % 3, SOCK, 1000 + i * 100, 100, 10000 + i * 1000, 50);
	assert_int_equal(tx_of(&c, SOCK)->use.threads, 3);
	assert_int_equal(tx_of(&c, SOCK)->use.cycles, 12 * 450);
	feed_end(&c);
}

/* Threads that share a buffer may have to wait for one of them that was held. */
static void late_events_are_joined_also_after_the_end_of_their_thread(void **unused)
{
	enum { CALLS = 20, LATE = 33000000 };
	struct mg_event begin = feed_event(MG_EVENT_app_begin, 5, 0);
	struct mg_event end = feed_event(MG_EVENT_task_exit, 50000, TID);
	struct mg_event e;
	struct core c;

	(void)unused;
	open_core(&c);
	feed(&c, &begin);
	for (uint64_t i = 0; i < CALLS; i++) {
		ev_enter(&c, 10010 + i * 1000, TID, SOCK, MG_SYS_recvfrom, 0);
		ev_exit(&c, 10020 + i * 1000, TID, SOCK, MG_SYS_recvfrom, 0, -11);
	}
	end.task_exit.leader = 1;
	feed(&c, &end);
	for (uint64_t i = 0; i < CALLS; i++) {
		e = feed_event(MG_APP_BASE + MG_FN_recv, LATE + i, TID);
		e.call.enter = 10000 + i * 1000;
		e.call.exit = 10030 + i * 1000;
		e.call.ret = -1;
		e.call.tid = e.call.pid = TID;
		e.call.kind = MG_KIND_tcp;
		feed(&c, &e);
	}
	assert_int_equal(core_finish(&c), 0);
	assert_int_equal(calls_of(&c, MG_FN_recv)->joined, CALLS);
	assert_int_equal(calls_of(&c, CALL_KERNEL_ONLY | MG_SYS_recvfrom)->n, 0);
	assert_null(c.unseen);
	core_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_send_is_joined_with_its_system_call),
		cmocka_unit_test(the_states_of_a_call_sum_to_its_time),
		cmocka_unit_test(tracing_overhead_is_taken_off),
		cmocka_unit_test(no_more_is_taken_off_than_there_is),
		cmocka_unit_test(a_call_that_fails_moves_nothing),
		cmocka_unit_test(only_sends_and_receives_have_bytes),
		cmocka_unit_test(without_its_system_call_a_call_still_counts),
		cmocka_unit_test(a_system_call_outside_the_call_is_not_its_own),
		cmocka_unit_test(another_threads_system_call_is_not_its_own),
		cmocka_unit_test(a_signal_handlers_call_nests_inside_another),
		cmocka_unit_test(a_call_restarted_after_a_signal_keeps_its_first_wait),
		cmocka_unit_test(calls_without_an_application_event_are_kept_apart),
		cmocka_unit_test(kinds_of_socket_are_kept_apart),
		cmocka_unit_test(an_exit_without_its_entry_is_nothing),
		cmocka_unit_test(an_entry_without_its_exit_is_given_up_at_the_next),
		cmocka_unit_test(within_the_clocks_bound_timestamps_are_clamped),
		cmocka_unit_test(beyond_the_bound_it_is_another_call),
		cmocka_unit_test(a_call_beside_its_system_call_still_adds_up),
		cmocka_unit_test(cost_of_logging_comes_from_the_calls),
		cmocka_unit_test(the_threads_that_use_a_flow_are_counted),
		cmocka_unit_test(late_events_are_joined_also_after_the_end_of_their_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
