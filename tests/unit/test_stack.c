/* SPDX-License-Identifier: MIT */
/* trace/stack.c: facts of stacks and of their frames, from the events of a trace. */
#include "facts/facts.h"
#include "feed.h"

static struct fact_stack stack;
static struct fact_frame frame;
static char function[300], file[100], why[100];
static int stacks, frames;

static void on_stack(void *arg, const void *fact)
{
	(void)arg;
	stack = *(const struct fact_stack *)fact;
	stacks++;
}

static void on_frame(void *arg, const void *fact)
{
	(void)arg;
	frame = *(const struct fact_frame *)fact;
	snprintf(function, sizeof(function), "%s", frame.function ? frame.function : "-");
	snprintf(file, sizeof(file), "%s", frame.file ? frame.file : "-");
	snprintf(why, sizeof(why), "%s", frame.why_unknown ? frame.why_unknown : "-");
	frames++;
}

static void begin(struct core *c)
{
	stacks = frames = 0;
	feed_begin(c, ALL_HOOKS);
	facts_listen(&c->facts, FACT_stack, on_stack, NULL);
	facts_listen(&c->facts, FACT_frame, on_frame, NULL);
}

static void ev_symbol(struct core *c, uint64_t place, uint32_t piece, int what, const char *text)
{
	struct mg_event e = feed_event(MG_EVENT_symbol, 200, 0);

	e.symbol = (struct mg_symbol){
		.place = place, .offset = 0x123, .piece = piece, .what = (uint8_t)what};
	memcpy(e.symbol.text, text, strnlen(text, sizeof(e.symbol.text)));
	feed(c, &e);
}

static void ev_frame(struct core *c, uint64_t id, uint32_t depth, uint64_t address, uint64_t place)
{
	struct mg_event e = feed_event(MG_EVENT_stack_frame, 201, 0);

	e.stack_frame = (struct mg_stack_frame){
		.stack = id, .depth = depth, .address = address, .place = place};
	feed(c, &e);
}

static void block_says_whose_stacks_and_for_how_long(void **unused)
{
	struct core c;
	struct mg_event e = feed_event(MG_EVENT_stack_block, 100, 77);

	(void)unused;
	begin(&c);
	e.stack_taken = (struct mg_stack_taken){
		.user = 4, .kernel = 5, .off_ns = 7000, .task_tid = 10, .task_pid = 10};
	feed(&c, &e);
	feed_end(&c);
	assert_int_equal(stacks, 1);
	assert_int_equal(stack.why, STACK_BLOCK);
	assert_int_equal(stack.tid, 10);
	assert_int_equal(stack.off, 7000);
	assert_int_equal(stack.user, 4);
	assert_int_equal(stack.kernel, 5);
}

static void stack_that_was_not_taken_is_unknown(void **unused)
{
	struct core c;
	struct mg_event e = feed_event(MG_EVENT_stack_drop, 100, 77);

	(void)unused;
	begin(&c);
	e.stack_taken = (struct mg_stack_taken){.kernel = 5};
	feed(&c, &e);
	feed_end(&c);
	assert_int_equal(stack.why, STACK_DROP);
	assert_true(stack.user == FACT_NONE);
	assert_true(stack.tid == FACT_NONE);
	assert_true(stack.off == FACT_NONE);
	assert_int_equal(stack.kernel, 5);
}

static void long_name_is_put_together(void **unused)
{
	struct core c;

	(void)unused;
	begin(&c);
	ev_symbol(&c, 9, 0, MG_SYMBOL_FUNCTION, "a_name_that_has_just_32_letters_");
	ev_symbol(&c, 9, 1, MG_SYMBOL_FUNCTION, "and_more");
	ev_symbol(&c, 9, 0, MG_SYMBOL_FILE, "/bin/a");
	ev_frame(&c, 4, 3, 0x5555, 9);
	feed_end(&c);
	assert_int_equal(frames, 1);
	assert_string_equal(function, "a_name_that_has_just_32_letters_and_more");
	assert_string_equal(file, "/bin/a");
	assert_string_equal(why, "-");
	assert_int_equal(frame.depth, 3);
	assert_int_equal(frame.offset, 0x123);
}

static void unknown_callers_have_no_address(void **unused)
{
	struct core c;

	(void)unused;
	begin(&c);
	ev_frame(&c, 4, 1, 0, 0);
	feed_end(&c);
	assert_true(frame.address == FACT_NONE);
	assert_string_equal(function, "-");
	assert_string_equal(why, "no frame pointer leads to the callers");
}

static void frame_of_an_unnamed_place_is_kept(void **unused)
{
	struct core c;

	(void)unused;
	begin(&c);
	ev_frame(&c, 4, 0, 0x5555, 12);
	feed_end(&c);
	assert_int_equal(frame.address, 0x5555);
	assert_string_equal(why, "its name is not in the trace");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(block_says_whose_stacks_and_for_how_long),
		cmocka_unit_test(stack_that_was_not_taken_is_unknown),
		cmocka_unit_test(long_name_is_put_together),
		cmocka_unit_test(unknown_callers_have_no_address),
		cmocka_unit_test(frame_of_an_unnamed_place_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
