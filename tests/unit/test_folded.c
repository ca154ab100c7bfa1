/* SPDX-License-Identifier: MIT */
/* Stacks summed up (figures/stacks.c), folded, and in the JSON report. */
#include "feed.h"
#include "render/folded.h"
#include "report.h"
#include "reported.h"

#define MS 1000000ull

static void ev_stack(
	struct core *c, uint16_t id, uint64_t t, uint64_t user, uint64_t kernel, uint64_t off_ns)
{
	struct mg_event e = feed_event(id, t, 10);

	e.stack_taken = (struct mg_stack_taken){.user = user,
		.kernel = kernel,
		.off_ns = off_ns,
		.task_tid = user ? 10 : 0,
		.task_pid = user ? 10 : 0};
	feed(c, &e);
}

/* A frame in a place of the same number; without a name it has only an offset in a file. */
static void ev_frame(struct core *c, uint64_t stack, uint32_t depth, uint64_t place,
	const char *function, const char *file)
{
	struct mg_event e = feed_event(MG_EVENT_symbol, 900, 0);

	e.symbol = (struct mg_symbol){.place = place, .offset = 0x120};
	if (function) {
		memcpy(e.symbol.text, function, strlen(function));
		feed(c, &e);
	}
	memset(e.symbol.text, 0, sizeof(e.symbol.text));
	if (file) {
		e.symbol.what = MG_SYMBOL_FILE;
		memcpy(e.symbol.text, file, strlen(file));
		feed(c, &e);
	}
	e = feed_event(MG_EVENT_stack_frame, 900, 0);
	e.stack_frame = (struct mg_stack_frame){
		.stack = stack, .depth = depth, .place = place, .address = place ? 0x1000 : 0};
	feed(c, &e);
}

static void ev_end(struct core *c)
{
	struct mg_event e = feed_event(MG_EVENT_stacks, 901, 0);

	e.stacks = (struct mg_stacks){.block_ns = MS, .distinct = 3};
	feed(c, &e);
}

static void begin(struct core *c)
{
	struct mg_event e = feed_event(MG_EVENT_task_fork, 5, 10);

	feed_begin(c, ALL_HOOKS);
	e.task_fork = (struct mg_task_fork){.child_tid = 10, .child_pid = 10, .comm = "server"};
	feed(c, &e);
}

/* Three stacks: 1 and 2 of the program, 3 of the kernel. */
static void describe(struct core *c)
{
	ev_frame(c, 1, 0, 1, "slow;function", "/bin/server");
	ev_frame(c, 1, 1, 2, "handler", "/bin/server");
	ev_frame(c, 1, 2, 3, "main", "/bin/server");
	ev_frame(c, 2, 0, 4, NULL, "/usr/lib/libc.so.6");
	ev_frame(c, 2, 1, 0, NULL, NULL);
	ev_frame(c, 3, 0, 5, "schedule", "kernel");
	ev_frame(c, 3, 1, 6, "do_syscall_64", "kernel");
	ev_end(c);
}

static void expect_folded(struct core *c, enum fact_stack_why why, const char *text)
{
	struct report r = {.core = c};
	char *is = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&is, &size);

	assert_non_null(to);
	folded_print(&r, why, to);
	fclose(to);
	assert_string_equal(is, text);
	free(is);
}

static void blocks_are_folded_with_their_time(void **unused)
{
	struct core c;

	(void)unused;
	begin(&c);
	ev_stack(&c, MG_EVENT_stack_block, 100, 1, 3, 2 * MS);
	ev_stack(&c, MG_EVENT_stack_block, 200, 2, 3, 9 * MS);
	ev_stack(&c, MG_EVENT_stack_block, 300, 1, 3, 3 * MS + 600);
	describe(&c);
	assert_int_equal(core_finish(&c), 0);
	expect_folded(&c, STACK_BLOCK,
		"server;[unknown callers];[libc.so.6+0x120];do_syscall_64_[k];schedule_[k] 9000\n"
		"server;main;handler;slow:function;do_syscall_64_[k];schedule_[k] 5001\n");
	core_free(&c);
}

static void others_are_folded_with_their_number(void **unused)
{
	struct core c;

	(void)unused;
	begin(&c);
	ev_stack(&c, MG_EVENT_stack_drop, 100, 0, 3, 0);
	ev_stack(&c, MG_EVENT_stack_drop, 200, 0, 3, 0);
	ev_stack(&c, MG_EVENT_stack_call, 300, 1, 0, 0);
	describe(&c);
	assert_int_equal(core_finish(&c), 0);
	expect_folded(&c, STACK_DROP, "[any program];do_syscall_64_[k];schedule_[k] 2\n");
	expect_folded(&c, STACK_CALL, "server;main;handler;slow:function 1\n");
	expect_folded(&c, STACK_RETRANSMIT, "");
	core_free(&c);
}

static void stack_without_frames_is_said_to_be_unknown(void **unused)
{
	struct core c;

	(void)unused;
	begin(&c);
	ev_stack(&c, MG_EVENT_stack_call, 300, 77, 0, 0);
	ev_end(&c);
	assert_int_equal(core_finish(&c), 0);
	expect_folded(&c, STACK_CALL, "server;[unknown] 1\n");
	core_free(&c);
}

static void json_has_rows_with_functions(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	begin(&c);
	ev_stack(&c, MG_EVENT_stack_block, 100, 1, 3, 2 * MS);
	ev_stack(&c, MG_EVENT_stack_block, 200, 1, 3, 4 * MS);
	ev_stack(&c, MG_EVENT_stack_drop, 300, 0, 3, 0);
	describe(&c);
	j = reported(&c);
	assert_int_equal(json_array_size(at(j, "stacks")), 2);
	assert_string_equal(json_string_value(at(j, "stacks.0.why")), "block");
	assert_string_equal(json_string_value(at(j, "stacks.0.program")), "server");
	assert_number_at(j, "stacks.0.n", 2);
	assert_number_at(j, "stacks.0.total_ns", 6 * MS);
	assert_number_at(j, "stacks.0.max_ns", 4 * MS);
	assert_string_equal(json_string_value(at(j, "stacks.0.user.1")), "handler");
	assert_string_equal(json_string_value(at(j, "stacks.1.why")), "drop");
	assert_true(json_is_null(at(j, "stacks.1.total_ns")));
	assert_int_equal(json_array_size(at(j, "stacks.1.user")), 0);
	json_decref(j);
}

static void json_has_null_where_none_were_recorded(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	begin(&c);
	j = reported(&c);
	assert_true(json_is_null(at(j, "stacks")));
	json_decref(j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_folded_with_their_time),
		cmocka_unit_test(others_are_folded_with_their_number),
		cmocka_unit_test(stack_without_frames_is_said_to_be_unknown),
		cmocka_unit_test(json_has_rows_with_functions),
		cmocka_unit_test(json_has_null_where_none_were_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
