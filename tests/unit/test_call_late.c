/* SPDX-License-Identifier: MIT */
/* Calls whose end, or whose caller in the program, becomes known late. */
#include "call/call_settle.h"
#include "feed.h"
#include "task/thread.h"

#define TID  10
#define SOCK 1

static void open_core(struct core *c)
{
	feed_begin(c, ALL_HOOKS);
	ev_opened(c, 10, SOCK, 999, 4999);
}

static void an_interrupted_call_counts_once_it_is_known_how_it_ended(void **unused)
{
	const struct call_stats *s;
	struct core c;

	(void)unused;
	open_core(&c);
	ev_enter(&c, 1000, TID, SOCK, MG_SYS_recvfrom, 0);
	ev_exit(&c, 2000, TID, SOCK, MG_SYS_recvfrom, 0, -512); /* ERESTARTSYS */
	ev_enter(&c, 3000, TID, SOCK, MG_SYS_recvfrom, 0);
	ev_exit(&c, 4000, TID, SOCK, MG_SYS_recvfrom, 0, -512);
	ev_exit(&c, 5000, TID, SOCK, MG_SYS_recvfrom, 0, -4); /* EINTR, as the handler returns */
	core_finish(&c);
	s = calls_of(&c, CALL_KERNEL_ONLY | MG_SYS_recvfrom);
	assert_int_equal(s->n, 1);
	assert_int_equal(s->failed, 1);
	feed_end(&c);
}

/* A thread is stopped, or gets no CPU, between its system call and the event of the call. */
static void a_thread_that_is_held_may_tell_of_its_call_late(void **unused)
{
	static const uint32_t states[] = {RUNNABLE, 0x104, 0x108}; /* preempted, stopped, traced */
	const uint64_t ms = 1000000;

	(void)unused;
	for (size_t i = 0; i < COUNT(states); i++) {
		struct core c;

		open_core(&c);
		ev_enter(&c, 10 * ms, TID, SOCK, MG_SYS_sendto, 0);
		ev_exit(&c, 11 * ms, TID, SOCK, MG_SYS_sendto, 0, 5);
		ev_switch(&c, 11 * ms + 1, 0, TID, states[i], 99);
		call_settle_old(&c, 900 * ms);
		ev_switch(&c, 1000 * ms, 0, 99, RUNNABLE, TID);
		call_settle_old(&c, 1100 * ms);
		ev_app(&c, TID, MG_FN_send, 9 * ms, 1200 * ms, 5);
		assert_int_equal(calls_of(&c, MG_FN_send)->joined, 1);
		assert_int_equal(calls_of(&c, CALL_KERNEL_ONLY | MG_SYS_sendto)->n, 0);
		assert_int_equal(c.checks.unjoined, 0);
		feed_end(&c);
	}
}

static void a_sleeping_thread_has_written_its_calls(void **unused)
{
	const uint64_t ms = 1000000;
	struct core c;

	(void)unused;
	open_core(&c);
	ev_enter(&c, 10 * ms, TID, SOCK, MG_SYS_sendto, 0);
	ev_exit(&c, 11 * ms, TID, SOCK, MG_SYS_sendto, 0, 5);
	ev_switch(&c, 12 * ms, 0, TID, SLEEPING, 99);
	call_settle_old(&c, 400 * ms);
	assert_int_equal(calls_of(&c, CALL_KERNEL_ONLY | MG_SYS_sendto)->n, 1);
	feed_end(&c);
}

#define THREADS 200

static void note_thread(void *arg, const void *fact)
{
	uint32_t *n = arg;

	n[1 + n[0]++] = (uint32_t)((const struct fact_call *)fact)->tid;
}

/* Some of many threads make calls, the last one first: their order is that of the threads. */
static void calls_of_many_threads_are_settled_in_order(void **unused)
{
	const uint64_t ms = 1000000;
	uint32_t settled[1 + 2 * THREADS] = {0}, n = 0;
	struct core c;

	(void)unused;
	open_core(&c);
	facts_listen(&c.facts, FACT_call, note_thread, settled);
	for (uint32_t i = 0; i < THREADS; i++)
		thread_get(&c, 1000 + i, 1000 + i);
	for (uint32_t i = THREADS; i-- > 0;)
		if (i % 3 == 0 || i / 64 == 1) {
			ev_enter(&c, 10 * ms, 1000 + i, SOCK, MG_SYS_sendto, 0);
			ev_exit(&c, 11 * ms, 1000 + i, SOCK, MG_SYS_sendto, 0, 5);
		}
	assert_int_equal(settled[0], 0);
	call_settle_old(&c, 400 * ms);
	for (uint32_t i = 0; i < THREADS; i++)
		if (i % 3 == 0 || i / 64 == 1)
			assert_int_equal(settled[1 + n++], 1000 + i);
	assert_int_equal(settled[0], n);
	call_settle_old(&c, 800 * ms);
	assert_int_equal(settled[0], n);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interrupted_call_counts_once_it_is_known_how_it_ended),
		cmocka_unit_test(a_thread_that_is_held_may_tell_of_its_call_late),
		cmocka_unit_test(a_sleeping_thread_has_written_its_calls),
		cmocka_unit_test(calls_of_many_threads_are_settled_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
