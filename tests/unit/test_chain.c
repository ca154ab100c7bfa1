/* SPDX-License-Identifier: MIT */
/* chain.c: from the addresses of a stack to frames, and what is said where callers are unknown. */
#include "stacks/chain.h"
#include "unit.h"

/* Functions at addresses 1000, 2000, ...; the name of one that keeps a frame begins with +. */
static const char *const *functions;
static const char *file;

static void name(void *arg, const struct mg_stack *s, uint64_t address, struct place *out)
{
	const char *f = address >= 1000 && address < 100000 ? functions[address / 1000 - 1] : NULL;

	(void)s;
	assert_ptr_equal(arg, &functions);
	out->file = address < 100000 ? file : NULL;
	if (!f)
		return;
	out->keeps_frame = *f == '+';
	f += out->keeps_frame;
	place_function(out, f, strcspn(f, "@"));
}

static void expect(const uint64_t *frames, uint16_t count, bool user, const char *text)
{
	static struct mg_stack s;
	static struct chain c;
	char is[1000] = "";

	s.count = count;
	s.user = user;
	memcpy(s.frame, frames, count * sizeof(*frames));
	chain_make(&c, &s, name, &functions);
	for (uint32_t i = 0; i < c.count; i++)
		snprintf(is + strlen(is), sizeof(is) - strlen(is), "%s%.*s", i ? ";" : "",
			c.frame[i].address ? (int)c.frame[i].place.function_length : 1,
			!c.frame[i].address         ? "?"
			: c.frame[i].place.function ? c.frame[i].place.function
						    : "");
	assert_string_equal(is, text);
}
#define EXPECT(user, text, ...)                                               \
	do {                                                                  \
		static const uint64_t frames[] = {__VA_ARGS__};               \
		expect(frames, sizeof(frames) / sizeof(*frames), user, text); \
	} while (0)

static int setup(void **unused)
{
	(void)unused;
	file = "program";
	return 0;
}

static void chain_of_frame_pointers_ends_at_the_start(void **unused)
{
	static const char *const f[] = {"+slow", "+handler", "+main", "__libc_start_call_main"};

	(void)unused;
	functions = f;
	/* behind the first function is what happened to be in the register */
	EXPECT(true, "slow;handler;main;__libc_start_call_main", 1010, 2010, 3010, 4010, 77000000);
}

static void callers_of_a_function_without_frame_are_unknown(void **unused)
{
	static const char *const f[] = {"nanosleep@@GLIBC_2.2.5", "+handler", "+main", "_start"};

	(void)unused;
	functions = f;
	EXPECT(true, "nanosleep;?;handler;main;_start", 1010, 2010, 3010, 4010);
}

static void stack_that_ends_early_says_so(void **unused)
{
	static const char *const f[] = {"epoll_wait", "+loop"};

	(void)unused;
	functions = f;
	EXPECT(true, "epoll_wait;?", 1010);
	EXPECT(true, "loop;?", 2010);
	/* no code is there: it is no return address */
	EXPECT(true, "loop;?", 2010, 5000000);
}

static void function_is_found_by_the_call_before_the_return(void **unused)
{
	static const char *const f[] = {"+abort_now", "+next", "+main", "_start"};

	(void)unused;
	functions = f;
	/* the call was the last instruction of a function that does not return */
	EXPECT(true, "next;abort_now;main;_start", 2500, 2000, 3010, 4010);
}

static void function_without_a_name_is_kept(void **unused)
{
	static const char *const f[] = {NULL, "+main", "_start"};

	(void)unused;
	functions = f;
	EXPECT(true, ";?;main;_start", 1010, 2010, 3010);
}

static void name_that_only_begins_like_a_start_is_none(void **unused)
{
	static const char *const f[] = {"+clone_tree", "+main", "_start"};

	(void)unused;
	functions = f;
	EXPECT(true, "clone_tree;main;_start", 1010, 2010, 3010);
}

static void kernel_stack_begins_behind_the_tracing(void **unused)
{
	static const char *const f[] = {"+bpf_prog_1_on_drop", "+bpf_trace_run4",
		"+__traceiter_kfree_skb", "+udp_rcv", "+bpf_prog_2_other", "+entry"};

	(void)unused;
	functions = f;
	EXPECT(false, "udp_rcv;bpf_prog_2_other;entry", 1010, 2010, 3010, 4010, 5010, 6010);
}

static void stack_of_the_most_frames_may_go_on(void **unused)
{
	static const char *const f[] = {"+recursive", "+main", "_start"};
	uint64_t frames[MG_STACK_FRAMES];
	static struct mg_stack s = {.user = true, .count = MG_STACK_FRAMES};
	static struct chain c;

	(void)unused;
	functions = f;
	for (int i = 0; i < MG_STACK_FRAMES; i++)
		frames[i] = 1010;
	memcpy(s.frame, frames, sizeof(frames));
	chain_make(&c, &s, name, &functions);
	assert_int_equal(c.count, MG_STACK_FRAMES + 1);
	assert_int_equal(c.frame[MG_STACK_FRAMES].address, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chain_of_frame_pointers_ends_at_the_start),
		cmocka_unit_test(callers_of_a_function_without_frame_are_unknown),
		cmocka_unit_test(stack_that_ends_early_says_so),
		cmocka_unit_test(function_is_found_by_the_call_before_the_return),
		cmocka_unit_test(function_without_a_name_is_kept),
		cmocka_unit_test(name_that_only_begins_like_a_start_is_none),
		cmocka_unit_test(kernel_stack_begins_behind_the_tracing),
		cmocka_unit_test(stack_of_the_most_frames_may_go_on),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
