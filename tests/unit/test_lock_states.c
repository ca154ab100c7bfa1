/* SPDX-License-Identifier: MIT */
/* A call's time at its socket's lock: waiting for the lock, and processing the backlog. */
#include "feed.h"

#define SENDER     10
#define SOCK       1
#define LOCK_HOOKS "lock_wait,lock_got,backlog_begin,backlog_end,"

static void at_lock(struct core *c, uint64_t t, uint16_t id)
{
	struct mg_event e = feed_event(id, t, SENDER);

	e.sock_lock.sock = SOCK;
	feed(c, &e);
}

/*
 * Waits for the lock from 1100 to 1500, 200 of it asleep; processes the backlog from 1700 to 2000.
 */
static void send_with_lock(struct core *c, const char *hooks)
{
	feed_begin(c, hooks);
	ev_opened(c, 10, SOCK, 999, 4999);
	ev_enter(c, 1000, SENDER, SOCK, MG_SYS_sendto, 1000);
	at_lock(c, 1100, MG_EVENT_lock_wait);
	ev_switch(c, 1200, 0, SENDER, 2, 0);
	ev_waking(c, 1400, SENDER);
	ev_switch(c, 1450, 0, 0, RUNNABLE, SENDER);
	at_lock(c, 1500, MG_EVENT_lock_got);
	ev_send(c, 1600, SENDER, SOCK, 1000, 100, 0);
	at_lock(c, 1700, MG_EVENT_backlog_begin);
	ev_irq(c, 1750, SENDER, true);
	ev_irq(c, 1790, SENDER, false);
	ev_packet(c, 1800, SENDER, MG_EVENT_ip_out, SOCK, 1000, 100);
	at_lock(c, 2000, MG_EVENT_backlog_end);
	ev_exit(c, 2100, SENDER, SOCK, MG_SYS_sendto, 1100, 100);
	ev_app(c, SENDER, MG_FN_send, 900, 2200, 100);
}

static void all_that_is_done_there_belongs_to_it(void **unused)
{
	const uint64_t expected[STATES] = {[STATE_ENTRY] = 100,
		[STATE_SOCKET] = 100 + 100,
		[STATE_LOCK] = 100 + 50,
		[STATE_TCP] = 100 + 100,
		[STATE_RELEASE] = 300 - 40,
		[STATE_IRQ] = 40,
		[STATE_BLOCKED] = 200,
		[STATE_WAKEUP] = 50,
		[STATE_RETURN] = 100};
	struct core c;

	(void)unused;
	send_with_lock(&c, LOCK_HOOKS ALL_HOOKS);
	assert_true(core_knows_lock_state(&c, STATE_LOCK));
	assert_true(core_knows_lock_state(&c, STATE_RELEASE));
	assert_states(calls_of(&c, MG_FN_send), expected);
	assert_true(calls_of(&c, MG_FN_send)->locked_out == 200);
	feed_end(&c);
}

/* With only one of the two hooks these states are unknown. */
static void half_of_the_hooks_is_none(void **unused)
{
	struct core c;

	(void)unused;
	send_with_lock(&c, "lock_wait,backlog_begin," ALL_HOOKS);
	assert_false(core_knows_lock_state(&c, STATE_LOCK));
	assert_false(core_knows_lock_state(&c, STATE_RELEASE));
	assert_true(calls_of(&c, MG_FN_send)->state[STATE_LOCK] == 0);
	assert_true(calls_of(&c, MG_FN_send)->state[STATE_RELEASE] == 0);
	assert_true(calls_of(&c, MG_FN_send)->complete == 1);
	feed_end(&c);
}

static void an_end_that_was_lost_makes_the_call_incomplete(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, LOCK_HOOKS ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, 4999);
	ev_enter(&c, 1000, SENDER, SOCK, MG_SYS_sendto, 1000);
	at_lock(&c, 1700, MG_EVENT_backlog_begin);
	ev_exit(&c, 2100, SENDER, SOCK, MG_SYS_sendto, 1000, -11);
	ev_app(&c, SENDER, MG_FN_send, 900, 2200, -1);
	ev_enter(&c, 3000, SENDER, SOCK, MG_SYS_sendto, 1000);
	at_lock(&c, 3100, MG_EVENT_backlog_end);
	ev_exit(&c, 3200, SENDER, SOCK, MG_SYS_sendto, 1000, -11);
	ev_app(&c, SENDER, MG_FN_send, 2900, 3300, -1);
	assert_int_equal(calls_of(&c, MG_FN_send)->joined, 2);
	assert_int_equal(calls_of(&c, MG_FN_send)->complete, 1);
	assert_true(calls_of(&c, MG_FN_send)->state[STATE_RELEASE] == 0);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_is_done_there_belongs_to_it),
		cmocka_unit_test(half_of_the_hooks_is_none),
		cmocka_unit_test(an_end_that_was_lost_makes_the_call_incomplete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
