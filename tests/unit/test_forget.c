/* SPDX-License-Identifier: MIT */
/* Ended threads and processes of a recording that is read for as long as it is made. */
#include <string.h>

#include "facts/facts.h"
#include "feed.h"

#define SECOND 1000000000ull
#define LIVES  10 /* threads, each the first of its process */
#define ENDS   11
#define PASSER 12 /* a thread in whose context a packet was handled */

static void runs(struct core *c, uint64_t t, uint32_t tid)
{
	struct mg_event e = feed_event(MG_EVENT_task_exec, t, tid);

	strcpy(e.task_exec.comm, "program");
	feed(c, &e);
	ev_enter(c, t + 1, tid, 1, MG_SYS_sendto, 0);
	ev_exit(c, t + 2, tid, 1, MG_SYS_sendto, 0, 1);
}

static void exits(struct core *c, uint64_t t, uint32_t tid)
{
	struct mg_event e = feed_event(MG_EVENT_task_exit, t, tid);

	e.task_exit.leader = true;
	feed(c, &e);
}

/* The tracer reads the clock ten times a second. */
static void time_passes(struct core *c, uint64_t from, uint64_t to)
{
	for (uint64_t t = from; t <= to; t += SECOND / 10)
		ev_sync(c, t, t, 0);
}

static bool has_thread(const struct core *c, uint32_t tid)
{
	const struct thread *t = NULL;

	HASH_FIND(hh, c->tasks.threads, &tid, sizeof(tid), t);
	return t;
}

static bool has_process(const struct core *c, uint32_t pid)
{
	const struct process *p = NULL;

	HASH_FIND(hh, c->tasks.processes, &pid, sizeof(pid), p);
	return p;
}

/* One thread goes on, one ends, and of one only a packet is recorded. */
static void feed_them(struct core *c)
{
	runs(c, 1000, LIVES);
	runs(c, 2000, ENDS);
	ev_softirq(c, 3000, PASSER, true);
	ev_softirq(c, 3100, PASSER, false);
	exits(c, 4000, ENDS);
	assert_true(has_thread(c, LIVES) && has_thread(c, ENDS) && has_thread(c, PASSER));
}

static void ended_ones_are_freed(void **unused)
{
	static struct core c;

	(void)unused;
	feed_begin_live(&c, true);
	feed_them(&c);
	time_passes(&c, 10000, SECOND); /* events of theirs may still come */
	assert_true(has_thread(&c, ENDS));
	time_passes(&c, SECOND, 4 * SECOND);
	assert_true(has_thread(&c, LIVES) && has_process(&c, LIVES));
	assert_false(has_thread(&c, ENDS) || has_process(&c, ENDS));
	assert_false(has_thread(&c, PASSER));
	/* another process may get the id */
	runs(&c, 5 * SECOND, ENDS);
	time_passes(&c, 5 * SECOND, 9 * SECOND);
	assert_true(has_thread(&c, ENDS) && has_process(&c, ENDS));
	assert_int_equal(thread_of(&c, ENDS)->done.n, 0); /* its call has been settled */
	feed_end(&c);
}

static void all_stay_where_nobody_asked(void **unused)
{
	static struct core c;

	(void)unused;
	feed_begin_live(&c, false);
	feed_them(&c);
	time_passes(&c, 10000, 4 * SECOND);
	assert_true(has_thread(&c, ENDS) && has_process(&c, ENDS) && has_thread(&c, PASSER));
	feed_end(&c);
}

static void ignore(void *arg, const void *fact)
{
	(void)arg;
	(void)fact;
}

/* The cause of a late reply is found along the threads of past waits. */
static void all_stay_where_the_past_is_needed(void **unused)
{
	static struct core c;

	(void)unused;
	feed_begin_live(&c, true);
	facts_listen(core_facts(&c), FACT_in_program, ignore, NULL);
	feed_them(&c);
	time_passes(&c, 10000, 4 * SECOND);
	assert_true(has_thread(&c, ENDS) && has_process(&c, ENDS));
	feed_end(&c);
}

/* Events of the program come later than those of its system calls. */
static void a_thread_with_calls_that_wait_stays(void **unused)
{
	static struct core c;

	(void)unused;
	feed_begin_live(&c, true);
	ev_app(&c, LIVES, MG_FN_send, 100, 200, 1);
	feed_them(&c);
	assert_true(thread_of(&c, ENDS)->done.n);
	time_passes(&c, 10000, SECOND / 5);
	assert_true(has_process(&c, ENDS));
	ev_app(&c, ENDS, MG_FN_send, 2000, 2003, 1);
	time_passes(&c, SECOND, 4 * SECOND);
	assert_false(has_thread(&c, ENDS) || has_process(&c, ENDS));
	feed_end(&c);
}

/* A process goes on while one of its threads does, though its first one has ended. */
static void a_process_with_threads_stays(void **unused)
{
	static struct core c;
	struct mg_event e;

	(void)unused;
	feed_begin_live(&c, true);
	runs(&c, 1000, ENDS);
	ev_fork(&c, 2000, ENDS, LIVES, "worker");
	e = feed_event(MG_EVENT_sys_enter, 3000, LIVES);
	e.pid = ENDS;
	feed(&c, &e);
	e = feed_event(MG_EVENT_task_exec, 3500, LIVES);
	e.pid = ENDS;
	strcpy(e.task_exec.comm, "other");
	feed(&c, &e);
	exits(&c, 4000, ENDS);
	time_passes(&c, 10000, 4 * SECOND);
	assert_false(has_thread(&c, ENDS));
	assert_true(has_thread(&c, LIVES) && has_process(&c, ENDS));
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ended_ones_are_freed),
		cmocka_unit_test(all_stay_where_nobody_asked),
		cmocka_unit_test(all_stay_where_the_past_is_needed),
		cmocka_unit_test(a_thread_with_calls_that_wait_stays),
		cmocka_unit_test(a_process_with_threads_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
