/* SPDX-License-Identifier: MIT */
/* The processes that made calls, and their programs. */
#include "callers.h"

#include <string.h>

#include "unit.h"

#define NAME(name) ((const char[16]){name})

static const struct caller *caller(const struct callers *c, uint32_t pid)
{
	const struct caller *p = NULL;

	HASH_FIND(hh, c->all, &pid, sizeof(pid), p);
	return p;
}

static void calls_of_each_program_are_counted_apart(void **unused)
{
	struct callers c = {0};
	const struct caller *p;

	(void)unused;
	callers_executed(&c, 10, 100, NAME("first"));
	callers_count(&c, 10, 200, true);
	callers_count(&c, 10, 300, false);
	callers_executed(&c, 10, 400, NAME("second"));
	callers_count(&c, 10, 500, true);
	callers_count(&c, 10, 350, true); /* reported late, by another CPU */
	p = caller(&c, 10);
	assert_string_equal(p->comm, "second");
	assert_int_equal(p->calls, 1);
	assert_int_equal(p->since_ns, 400);
	assert_string_equal(p->before->comm, "first");
	assert_int_equal(p->before->calls, 3);
	assert_int_equal(p->before->moved, 2);
	assert_true(callers_called(&c, 10, 100, 400));
	assert_false(callers_called(&c, 10, 351, 500));
	assert_true(callers_called(&c, 10, 351, 501));
	assert_false(callers_called(&c, 11, 0, 1000));
	callers_free(&c);
}

/* A call after execve() may be reported before execve() is. */
static void calls_told_before_their_program_are_its_own(void **unused)
{
	struct callers c = {0};

	(void)unused;
	callers_count(&c, 10, 500, true);
	callers_executed(&c, 10, 400, NAME("late"));
	assert_int_equal(caller(&c, 10)->calls, 1);
	assert_null(caller(&c, 10)->before);
	callers_free(&c);
}

/* CPUs are read one after another: even many calls may be reported before execve(). */
static void calls_wait_for_what_was_executed_meanwhile(void **unused)
{
	struct callers c = {0};
	const struct caller *p;

	(void)unused;
	callers_executed(&c, 10, 100, NAME("first"));
	callers_tell(&c, 10, 200, true);
	callers_turn(&c);
	callers_tell(&c, 10, 500, true);
	callers_tell(&c, 10, 600, true);
	callers_turn(&c);
	callers_executed(&c, 10, 400, NAME("second"));
	callers_turn(&c);
	p = caller(&c, 10);
	assert_string_equal(p->comm, "second");
	assert_int_equal(p->calls, 2);
	assert_int_equal(p->before->calls, 1);
	for (uint32_t i = 0; i < 100000; i++) /* more than can wait */
		callers_tell(&c, 10, 700, true);
	callers_turn(&c);
	callers_turn(&c);
	assert_int_equal(p->calls, 100002);
	callers_free(&c);
}

static void programs_told_in_the_wrong_order_are_in_order(void **unused)
{
	struct callers c = {0};
	const struct caller *p;

	(void)unused;
	callers_count(&c, 10, 100, true);
	callers_executed(&c, 10, 400, NAME("second"));
	callers_executed(&c, 10, 200, NAME("first"));
	callers_count(&c, 10, 300, true);
	callers_count(&c, 10, 500, true);
	p = caller(&c, 10);
	assert_string_equal(p->comm, "second");
	assert_string_equal(p->before->comm, "first");
	assert_string_equal(p->before->before->comm, "");
	assert_int_equal(p->calls, 1);
	assert_int_equal(p->before->calls, 1);
	assert_int_equal(p->before->before->calls, 1);
	callers_free(&c);
}

static void assert_program(const struct callers *c, uint32_t pid, const char *name)
{
	assert_string_equal(callers_program(c, caller(c, pid)), name);
}

/* Also if the parent's program becomes known later. */
static void a_child_runs_what_its_parent_ran(void **unused)
{
	struct callers c = {0};

	(void)unused;
	callers_executed(&c, 10, 100, NAME("first"));
	callers_forked(&c, 10, 11, 200, NAME("thread"));
	callers_forked(&c, 10, 12, 500, NAME("thread"));
	callers_forked(&c, 12, 14, 600, NAME("thread"));
	callers_executed(&c, 10, 400, NAME("second"));
	callers_forked(&c, 20, 13, 500, NAME("thread")); /* nothing is known of its parent */
	assert_program(&c, 11, "first");
	assert_program(&c, 12, "second");
	assert_program(&c, 14, "second");
	assert_program(&c, 13, "thread");
	callers_executed(&c, 14, 700, NAME("third"));
	assert_program(&c, 14, "third");
	callers_free(&c);
}

static void a_number_may_be_given_again(void **unused)
{
	struct callers c = {0};

	(void)unused;
	callers_forked(&c, 10, 11, 100, NAME("old"));
	callers_count(&c, 11, 200, true);
	callers_forked(&c, 20, 11, 300, NAME("new"));
	assert_program(&c, 11, "new");
	assert_int_equal(caller(&c, 11)->calls, 0);
	assert_string_equal(callers_program(&c, caller(&c, 11)->before), "old");
	callers_forked(&c, 11, 11, 400, NAME("again")); /* its identity is known now */
	assert_program(&c, 11, "new");
	callers_forked(&c, 15, 15, 400, NAME("there"));
	assert_program(&c, 15, "there");
	callers_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls_of_each_program_are_counted_apart),
		cmocka_unit_test(calls_told_before_their_program_are_its_own),
		cmocka_unit_test(calls_wait_for_what_was_executed_meanwhile),
		cmocka_unit_test(programs_told_in_the_wrong_order_are_in_order),
		cmocka_unit_test(a_child_runs_what_its_parent_ran),
		cmocka_unit_test(a_number_may_be_given_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
