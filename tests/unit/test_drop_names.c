/* SPDX-License-Identifier: MIT */
/* drop_names.c: names that a program tells, in place of the kernel here, and names from its lists.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "events.h"
#include "ring.h"
#include "rings/drop_names.h"
#include "unit.h"

#define PROGRAM 100
#define MAP     101

static struct mg_drop_words answer;
static int asked, refusal;
static bool is_told;

int bpf_prog_test_run_opts(int program, struct bpf_test_run_opts *opts)
{
	const uint64_t *arguments = opts->ctx_in;

	assert_int_equal(program, PROGRAM);
	assert_int_equal(opts->ctx_size_in, 2 * sizeof(*arguments));
	asked++;
	opts->retval = is_told;
	errno = -refusal;
	return refusal;
}

int bpf_map_lookup_elem(int map, const void *key, void *value)
{
	assert_int_equal(map, MAP);
	assert_int_equal(*(const uint32_t *)key, 0);
	memcpy(value, &answer, sizeof(answer));
	return 0;
}

static struct drop_names *begin(const char *reason, const char *place)
{
	struct drop_names *n = drop_names_new();

	assert_non_null(n);
	drop_names_ask(n, PROGRAM, MAP);
	snprintf(answer.reason, sizeof(answer.reason), "%s", reason);
	snprintf(answer.place, sizeof(answer.place), "%s", place);
	asked = refusal = 0;
	is_told = true;
	return n;
}

/* Checks the names of one drop. */
static void told(struct drop_names *n, uint64_t location, uint32_t number, const char *reason,
	const char *place)
{
	const struct mg_drop_raw raw = {
		.sock = 7, .location = location, .reason = number, .len = 9, .segs = 2, .rx = 1};
	struct mg_drop e;

	assert_true(drop_names_ready(n, &raw));
	drop_names_of(n, &raw, &e);
	assert_string_equal(e.reason, reason);
	assert_string_equal(e.location, place);
	assert_int_equal(e.sock, 7);
	assert_int_equal(e.len, 9);
	assert_int_equal(e.segs, 2);
	assert_int_equal(e.rx, 1);
}

static void each_place_and_reason_is_asked_for_once(void **unused)
{
	struct drop_names *n = begin("SKB_DROP_REASON_NO_SOCKET", "tcp_v4_rcv");

	(void)unused;
	told(n, 0x1000, 3, "NO_SOCKET", "tcp_v4_rcv");
	told(n, 0x1000, 3, "NO_SOCKET", "tcp_v4_rcv");
	assert_int_equal(asked, 1);
	snprintf(answer.reason, sizeof(answer.reason), "SKB_DROP_REASON_TCP_RESET");
	told(n, 0x1000, 4, "TCP_RESET", "tcp_v4_rcv");
	snprintf(answer.place, sizeof(answer.place), "tcp_rcv_state_process");
	told(n, 0x2000, 4, "TCP_RESET", "tcp_rcv_state_process");
	assert_int_equal(asked, 3);
	told(n, 0x1000, 3, "NO_SOCKET", "tcp_v4_rcv");
	assert_int_equal(asked, 3);
	for (uint32_t i = 0; i < 100; i++)
		told(n, 0x3000, i + 1, "TCP_RESET", "tcp_rcv_state_process");
	assert_int_equal(asked, 103);
	drop_names_free(n);
}

static void a_function_is_told_without_its_module(void **unused)
{
	struct drop_names *n = begin("SKB_DROP_REASON_NETFILTER_DROP", "nft_do_chain [nf_tables]");

	(void)unused;
	told(n, 0x1000, 8, "NETFILTER_DROP", "nft_do_chain");
	drop_names_free(n);
}

static void names_are_cut_where_an_event_has_no_room(void **unused)
{
	struct drop_names *n = begin("SKB_DROP_REASON_A23456789012345678901234567890123456",
		"a23456789012345678901234567890123456");

	(void)unused;
	told(n, 0x1000, 8, "A234567890123456789012345678901", "a234567890123456789012345678901");
	drop_names_free(n);
}

/* Subsystems number reasons of their own, which the kernel's list does not have. */
static void what_has_no_name_is_a_number_or_not_reported(void **unused)
{
	struct drop_names *n = begin("131074", "0xffffffffc0de0000");

	(void)unused;
	told(n, 0x1000, 131074, "0x20002", "not reported");
	answer.reason[0] = 0;
	told(n, 0x1000, 5, "0x5", "not reported");
	told(n, 0x1000, 0, "not reported", "not reported");
	drop_names_free(n);
}

/* Returns the address of a function of this kernel, 0 where it shows none. */
static uint64_t address_of(const char *function)
{
	FILE *list = fopen("/proc/kallsyms", "re");
	uint64_t address = 0, at;
	char line[512], name[256], type;

	while (list && !address && fgets(line, sizeof(line), list))
		if (sscanf(line, "%" SCNx64 " %c %255s", &at, &type, name) == 3 &&
			strcmp(name, function) == 0)
			address = at;
	if (list)
		fclose(list);
	return address;
}

/* `refused` is what running the program returns; it tells nothing. */
static void lists_serve(int refused)
{
	static const char function[] = "tcp_v4_rcv";
	const uint64_t address = address_of(function);
	const struct mg_drop_raw raw = {.location = address + 4, .reason = 1};
	struct drop_names *n = begin("wrong", "wrong");
	struct mg_drop e;

	refusal = refused;
	is_told = false;
	drop_names_ready(n, &raw);
	drop_names_wait(n);
	assert_true(drop_names_ready(n, &raw));
	assert_int_equal(asked, 1); /* and never again */
	drop_names_of(n, &raw, &e);
	assert_string_equal(e.location, address ? function : "not reported");
	assert_string_not_equal(e.reason, "wrong");
	drop_names_free(n);
}

static void lists_of_all_names_serve_where_the_kernel_cannot_be_asked(void **unused)
{
	(void)unused;
	lists_serve(-EPERM);
	lists_serve(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_place_and_reason_is_asked_for_once),
		cmocka_unit_test(a_function_is_told_without_its_module),
		cmocka_unit_test(names_are_cut_where_an_event_has_no_room),
		cmocka_unit_test(what_has_no_name_is_a_number_or_not_reported),
		cmocka_unit_test(lists_of_all_names_serve_where_the_kernel_cannot_be_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
