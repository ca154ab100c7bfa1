/* SPDX-License-Identifier: MIT */
/* Calls interrupted by signals: the time of the handlers is no overhead of the calls. */
#include "feed.h"

#define TID  10
#define SOCK 1
#define PIPE 2

#define RESTART -512 /* ERESTARTSYS: the kernel leaves the call for a handler */

/* Feeds a handler's write(): U0 K0 K1 U1 are at + 0 ... at + 3. */
static void handler_writes(struct core *c, uint64_t at)
{
	ev_enter(c, at + 1, TID, PIPE, MG_SYS_write, 0);
	ev_exit(c, at + 2, TID, PIPE, MG_SYS_write, 0, -32);
	ev_app(c, TID, MG_FN_write, at, at + 3, -1);
}

static void a_handler_that_comes_before_the_system_call(void **unused)
{
	const uint64_t outer[STATES] = {
		[STATE_ENTRY] = 97, [STATE_SIGNAL] = 3, [STATE_SOCKET] = 100, [STATE_RETURN] = 100};
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	handler_writes(&c, 1050);
	ev_enter(&c, 1100, TID, SOCK, MG_SYS_recvfrom, 5000);
	ev_exit(&c, 1200, TID, SOCK, MG_SYS_recvfrom, 5000, -11);
	ev_app(&c, TID, MG_FN_recv, 1000, 1300, -1);
	assert_states(calls_of(&c, MG_FN_recv), outer);
	feed_end(&c);
}

/* recv() is left for a handler, which another signal interrupts: all that time is the handlers'. */
static void handlers_nest(void **unused)
{
	const uint64_t inner[STATES] = {
		[STATE_ENTRY] = 10, [STATE_SIGNAL] = 10, [STATE_SOCKET] = 10, [STATE_RETURN] = 10};
	const uint64_t outer[STATES] = {[STATE_ENTRY] = 100,
		[STATE_SOCKET] = 200,
		[STATE_SIGNAL] = 500,
		[STATE_RETURN] = 100};
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	ev_enter(&c, 1100, TID, SOCK, MG_SYS_recvfrom, 5000);
	ev_exit(&c, 1200, TID, SOCK, MG_SYS_recvfrom, 5000, RESTART);
	ev_enter(&c, 1310, TID, PIPE, MG_SYS_sendto, 0);
	ev_exit(&c, 1315, TID, PIPE, MG_SYS_sendto, 0, RESTART);
	handler_writes(&c, 1317);
	ev_enter(&c, 1325, TID, PIPE, MG_SYS_sendto, 0);
	ev_exit(&c, 1330, TID, PIPE, MG_SYS_sendto, 0, -32);
	ev_app(&c, TID, MG_FN_send, 1300, 1340, -1);
	ev_enter(&c, 1700, TID, SOCK, MG_SYS_recvfrom, 5000);
	ev_exit(&c, 1800, TID, SOCK, MG_SYS_recvfrom, 5000, -11);
	ev_app(&c, TID, MG_FN_recv, 1000, 1900, -1);
	assert_states(calls_of(&c, MG_FN_send), inner);
	assert_states(calls_of(&c, MG_FN_recv), outer);
	feed_end(&c);
}

/* Without SA_RESTART the call ends when the handler returns. */
static void handler_time_before_eintr_is_no_overhead(void **unused)
{
	const uint64_t outer[STATES] = {[STATE_ENTRY] = 100,
		[STATE_SOCKET] = 100,
		[STATE_SIGNAL] = 100 + 40,
		[STATE_PREEMPTED] = 60,
		[STATE_RETURN] = 50};
	const struct call_stats *s;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	ev_enter(&c, 1100, TID, SOCK, MG_SYS_recvfrom, 5000);
	ev_exit(&c, 1200, TID, SOCK, MG_SYS_recvfrom, 5000, RESTART);
	ev_preempt(&c, 1300, 0, TID, 77);
	ev_switch(&c, 1360, 0, 77, RUNNABLE, TID);
	ev_exit(&c, 1400, TID, SOCK, MG_SYS_recvfrom, 0, -4); /* EINTR */
	ev_app(&c, TID, MG_FN_recv, 1000, 1450, -1);
	s = calls_of(&c, MG_FN_recv);
	assert_int_equal(s->n, 1);
	assert_states(s, outer);
	feed_end(&c);
}

/* However often it is left and entered again, it is one call that waited all the time. */
static void a_call_that_many_signals_come_into_is_one(void **unused)
{
	enum { TIMES = 100 };
	const uint64_t outer[STATES] = {[STATE_ENTRY] = 1,
		[STATE_SOCKET] = 2 * (TIMES + 1),
		[STATE_BLOCKED] = 4 * TIMES,
		[STATE_WAKEUP] = 1 * TIMES,
		[STATE_SIGNAL] = 13 * TIMES,
		[STATE_RETURN] = 1};
	const struct call_stats *s;
	uint64_t t = 1001;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	for (int i = 0; i < TIMES; i++, t += 20) {
		ev_enter(&c, t, TID, SOCK, MG_SYS_recvfrom, 5000);
		ev_switch(&c, t + 1, 0, TID, SLEEPING, 0);
		ev_waking(&c, t + 5, TID);
		ev_switch(&c, t + 6, 0, 0, RUNNABLE, TID);
		ev_exit(&c, t + 7, TID, SOCK, MG_SYS_recvfrom, 5000, RESTART);
		handler_writes(&c, t + 10);
	}
	ev_enter(&c, t, TID, SOCK, MG_SYS_recvfrom, 5000);
	ev_exit(&c, t + 2, TID, SOCK, MG_SYS_recvfrom, 5000, -11);
	ev_app(&c, TID, MG_FN_recv, 1000, t + 3, -1);
	s = calls_of(&c, MG_FN_recv);
	assert_states(s, outer);
	assert_int_equal(s->blocked_n, 1);
	assert_int_equal(calls_of(&c, MG_FN_write)->joined, TIMES);
	assert_int_equal(c.checks.unjoined, 0);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_handler_that_comes_before_the_system_call),
		cmocka_unit_test(handlers_nest),
		cmocka_unit_test(handler_time_before_eintr_is_no_overhead),
		cmocka_unit_test(a_call_that_many_signals_come_into_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
