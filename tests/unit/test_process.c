/* SPDX-License-Identifier: MIT */
/* Programs that bypassed libmagnet.so. */
#include <string.h>

#include "feed.h"

static void named(struct core *c, uint64_t t, uint32_t tid, const char *comm)
{
	struct mg_event e = feed_event(MG_EVENT_task_exec, t, tid);

	strncpy(e.task_exec.comm, comm, sizeof(e.task_exec.comm));
	feed(c, &e);
}

static void kernel_call(struct core *c, uint64_t t, uint32_t tid, int call)
{
	ev_enter(c, t, tid, 1, call, 0);
	ev_exit(c, t + 10, tid, 1, call, 0, 1);
}

static void a_program_without_application_events_is_named(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	named(&c, 100, 10, "static");
	for (uint64_t i = 0; i < 20; i++)
		kernel_call(&c, 1000 + i * 100, 10, MG_SYS_sendto);
	named(&c, 100, 11, "dynamic");
	/* by a resolver inside the C library, for example */
	kernel_call(&c, 5000, 11, MG_SYS_sendto);
	ev_app(&c, 11, MG_FN_send, 6000, 6100, 1);
	core_finish(&c);
	assert_int_equal(HASH_COUNT(c.unseen), 1);
	assert_string_equal(c.unseen->comm, "static");
	assert_int_equal(c.unseen->calls, 20);
	assert_int_equal(c.unseen->processes, 1);
	core_free(&c);
}

static void a_program_that_only_asks_for_names_is_not(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	named(&c, 100, 10, "setpriv"); /* the C library loads its name service */
	kernel_call(&c, 1000, 10, MG_SYS_socket);
	kernel_call(&c, 2000, 10, MG_SYS_connect);
	kernel_call(&c, 3000, 10, MG_SYS_close);
	core_finish(&c);
	assert_int_equal(HASH_COUNT(c.unseen), 0);
	core_free(&c);
}

static void calls_before_exec_belong_to_the_old_program(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	named(&c, 100, 10, "shell");
	ev_app(&c, 10, MG_FN_send, 200, 300, 1);
	named(&c, 1000, 10, "static");
	kernel_call(&c, 2000, 10, MG_SYS_sendto);
	named(&c, 3000, 10, "another");
	ev_app(&c, 10, MG_FN_send, 4000, 4100, 1);
	core_finish(&c);
	assert_int_equal(HASH_COUNT(c.unseen), 1);
	assert_string_equal(c.unseen->comm, "static");
	assert_int_equal(c.unseen->calls, 1);
	core_free(&c);
}

static void io_uring_is_named_also_beside_application_events(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	named(&c, 100, 10, "ring");
	ev_app(&c, 10, MG_FN_send, 200, 300, 1);
	kernel_call(&c, 2000, 10, MG_SYS_io_uring_enter);
	core_finish(&c);
	assert_int_equal(HASH_COUNT(c.unseen), 1);
	assert_int_equal(c.unseen->io_uring, 1);
	assert_int_equal(c.unseen->calls, 0);
	core_free(&c);
}

static void ev_task(struct core *c, uint32_t by, uint32_t tid, uint32_t pid, const char *comm)
{
	struct mg_event e = feed_event(MG_EVENT_task_fork, 200, by);

	e.task_fork.child_tid = tid;
	e.task_fork.child_pid = pid;
	memcpy(e.task_fork.comm, comm, strlen(comm) + 1);
	feed(c, &e);
}

static void assert_program(struct core *c, uint32_t pid, const char *comm)
{
	struct process *p = NULL;

	HASH_FIND(hh, c->tasks.processes, &pid, sizeof(pid), p);
	assert_non_null(p);
	assert_non_null(p->program);
	assert_string_equal(p->program->comm, comm);
}

/* The kernel names it after the thread that forked. */
static void a_forked_process_runs_what_its_parent_runs(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	named(&c, 100, 10, "server");
	ev_task(&c, 10, 20, 20, "worker-1");
	assert_program(&c, 20, "server");
	named(&c, 300, 20, "helper");
	assert_program(&c, 20, "helper");
	assert_program(&c, 10, "server");
	core_finish(&c);
	core_free(&c);
}

static void a_process_that_was_there_is_called_as_its_first_thread(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_task(&c, 9, 31, 30, "worker-1");
	assert_program(&c, 30, "worker-1"); /* nothing better is known */
	ev_task(&c, 9, 30, 30, "main");
	ev_task(&c, 9, 32, 30, "worker-2");
	assert_program(&c, 30, "main");
	named(&c, 300, 30, "program");
	ev_task(&c, 30, 30, 30, "renamed"); /* reported again, as parts of a recording do */
	assert_program(&c, 30, "program");
	core_finish(&c);
	core_free(&c);
}

static void an_id_may_be_another_s_next(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_task_exit, 400, 40);
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	named(&c, 100, 40, "first");
	e.task_exit.leader = 1;
	feed(&c, &e);
	ev_task(&c, 9, 40, 40, "second");
	assert_program(&c, 40, "second");
	core_finish(&c);
	core_free(&c);
}

static void a_socket_keeps_the_name_of_who_used_it(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	named(&c, 100, 10, "before");
	kernel_call(&c, 1000, 10, MG_SYS_sendto);
	named(&c, 2000, 10, "after");
	assert_string_equal(c.sockets.socks->user.program->comm, "before");
	kernel_call(&c, 3000, 10, MG_SYS_sendto);
	assert_string_equal(c.sockets.socks->user.program->comm, "after");
	core_finish(&c);
	core_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_without_application_events_is_named),
		cmocka_unit_test(a_program_that_only_asks_for_names_is_not),
		cmocka_unit_test(calls_before_exec_belong_to_the_old_program),
		cmocka_unit_test(io_uring_is_named_also_beside_application_events),
		cmocka_unit_test(a_forked_process_runs_what_its_parent_runs),
		cmocka_unit_test(a_process_that_was_there_is_called_as_its_first_thread),
		cmocka_unit_test(an_id_may_be_another_s_next),
		cmocka_unit_test(a_socket_keeps_the_name_of_who_used_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
