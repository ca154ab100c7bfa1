/* SPDX-License-Identifier: MIT */
/* Programs that went past libmagnet.so. */
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
	kernel_call(&c, 5000, 11, MG_SYS_sendto); /* of a resolver inside the C library, say */
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
	named(&c, 100, 10, "setpriv"); /* the C library looks for its name service */
	kernel_call(&c, 1000, 10, MG_SYS_socket);
	kernel_call(&c, 2000, 10, MG_SYS_connect);
	kernel_call(&c, 3000, 10, MG_SYS_close);
	core_finish(&c);
	assert_int_equal(HASH_COUNT(c.unseen), 0);
	core_free(&c);
}

static void what_a_process_did_before_it_ran_another_program_is_its_own(void **unused)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_without_application_events_is_named),
		cmocka_unit_test(a_program_that_only_asks_for_names_is_not),
		cmocka_unit_test(what_a_process_did_before_it_ran_another_program_is_its_own),
		cmocka_unit_test(io_uring_is_named_also_beside_application_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
