/* SPDX-License-Identifier: MIT */
/* The time that a program takes between a request and its reply, in its parts. */
#include "exchange_scene.h"

static struct fact_in_program parts[KEPT];
static int parts_n;

static void keep_part(void *arg, const void *fact)
{
	(void)arg;
	assert_true(parts_n < KEPT);
	memcpy(&parts[parts_n], fact, sizeof(parts[0]));
	if (parts[parts_n].part == PROGRAM_BLOCKED) /* the name is the core's */
		assert_string_equal(parts[parts_n].call, "futex");
	parts_n++;
}

/* Returns the time of a thread in a part; 0 if there is none. */
static uint64_t time_in(enum fact_program_part part, uint64_t tid)
{
	for (int i = 0; i < parts_n; i++)
		if (parts[i].part == part && parts[i].tid == tid)
			return parts[i].time;
	return 0;
}

static void begin_divided(struct core *c, struct got *g)
{
	begin(c, g);
	parts_n = 0;
	facts_listen(&c->facts, FACT_in_program, keep_part, NULL);
	accepted(c, 50);
}

/* Ends the recording: the one exchange has 960 cycles, to which its parts sum. */
static void end_divided(struct core *c, struct got *g)
{
	uint64_t sum = 0;

	feed_end(c);
	for (int i = 0; i < parts_n; i++)
		sum += parts[i].time;
	assert_int_equal(g->n, 1);
	assert_int_equal(g->fact[0].in_program, 960);
	assert_int_equal(sum, 960);
}

static void blocks(struct core *c, uint64_t t, int cpu, uint32_t tid)
{
	struct mg_event e = feed_event(MG_EVENT_sched_switch, t, tid);

	e.cpu = cpu;
	e.sched_switch = (struct mg_sched_switch){
		.prev_tid = tid, .prev_state = 1, .entry = MG_ENTRY_X86_64, .nr = 202};
	feed(c, &e);
}

static void wakes(struct core *c, uint64_t t, uint32_t tid, uint32_t wakee)
{
	struct mg_event e = feed_event(MG_EVENT_sched_waking, t, tid);

	e.sched_waking.wakee_tid = e.sched_waking.wakee_pid = wakee;
	feed(c, &e);
}

static void a_block_in_the_program_has_its_call(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin_divided(&c, &g);
	ev_waking(&c, 60, THREAD);
	reads(&c, THREAD, 2001, 100, 1000); /* U1 is 1040 */
	blocks(&c, 1100, 0, THREAD);
	wakes(&c, 1300, 0, THREAD);
	ev_switch(&c, 1350, 0, 0, 0, THREAD);
	feed_send(&c, THREAD, SERVER, 1001, 200, 2000, 10);
	end_divided(&c, &g);
	assert_int_equal(parts_n, 3);
	assert_int_equal(time_in(PROGRAM_ON_CPU, THREAD), 60 + 650);
	assert_int_equal(time_in(PROGRAM_RUN_QUEUE, THREAD), 50);
	assert_int_equal(time_in(PROGRAM_BLOCKED, THREAD), 200);
}

static void time_for_a_quota_is_a_part_of_its_own(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin_divided(&c, &g);
	ev_waking(&c, 60, THREAD);
	reads(&c, THREAD, 2001, 100, 1000);
	ev_throttle(&c, 1100, 0, THREAD, 0);
	ev_switch(&c, 1350, 0, 0, 0, THREAD);
	feed_send(&c, THREAD, SERVER, 1001, 200, 2000, 10);
	end_divided(&c, &g);
	assert_int_equal(parts_n, 2);
	assert_int_equal(time_in(PROGRAM_ON_CPU, THREAD), 60 + 650);
	assert_int_equal(time_in(PROGRAM_THROTTLED, THREAD), 250);
}

static void work_of_a_woken_thread_is_followed(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin_divided(&c, &g);
	ev_waking(&c, 60, THREAD);
	ev_waking(&c, 60, 20);
	blocks(&c, 500, 1, 20);
	reads(&c, THREAD, 2001, 100, 1000);
	wakes(&c, 1100, THREAD, 20);
	ev_switch(&c, 1150, 1, 0, 0, 20);
	blocks(&c, 1200, 0, THREAD);
	wakes(&c, 1600, 20, THREAD);
	ev_switch(&c, 1650, 0, 0, 0, THREAD);
	feed_send(&c, THREAD, SERVER, 1001, 200, 2000, 10);
	end_divided(&c, &g);
	assert_int_equal(time_in(PROGRAM_ON_CPU, THREAD), 350 + 60);
	assert_int_equal(time_in(PROGRAM_RUN_QUEUE, THREAD), 50);
	assert_int_equal(time_in(PROGRAM_ON_CPU, 20), 450);
	assert_int_equal(time_in(PROGRAM_RUN_QUEUE, 20), 50);
	assert_int_equal(time_in(PROGRAM_BLOCKED, THREAD), 0);
}

/* A thread may hold a lock, and have nothing to do with the request. */
static void a_thread_that_was_not_woken_for_it_is_not_followed(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin_divided(&c, &g);
	ev_waking(&c, 60, THREAD);
	ev_waking(&c, 60, 20);
	reads(&c, THREAD, 2001, 100, 1000);
	blocks(&c, 1200, 0, THREAD);
	wakes(&c, 1600, 20, THREAD);
	ev_switch(&c, 1650, 0, 0, 0, THREAD);
	feed_send(&c, THREAD, SERVER, 1001, 200, 2000, 10);
	end_divided(&c, &g);
	assert_int_equal(time_in(PROGRAM_BLOCKED, THREAD), 400);
	for (int i = 0; i < parts_n; i++)
		if (parts[i].part == PROGRAM_BLOCKED)
			assert_int_equal(parts[i].waker, 20);
}

static void a_request_may_wait_for_a_busy_thread(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin_divided(&c, &g);
	ev_waking(&c, 60, THREAD);
	ev_waking(&c, 60, 20);
	reads(&c, THREAD, 2001, 100, 1000);
	feed_send(&c, 20, SERVER, 1001, 200, 2000, 10);
	end_divided(&c, &g);
	assert_int_equal(parts_n, 1);
	assert_int_equal(parts[0].part, PROGRAM_HANDED_OVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_in_the_program_has_its_call),
		cmocka_unit_test(time_for_a_quota_is_a_part_of_its_own),
		cmocka_unit_test(work_of_a_woken_thread_is_followed),
		cmocka_unit_test(a_thread_that_was_not_woken_for_it_is_not_followed),
		cmocka_unit_test(a_request_may_wait_for_a_busy_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
