/* SPDX-License-Identifier: MIT */
#include "filter/filter.h"

#include <string.h>

#include "connection.h"
#include "figures/figures.h"
#include "figures/flows.h"

static struct filter f;

static int teardown(void **unused)
{
	(void)unused;
	filter_free(&f);
	memset(&f, 0, sizeof(f));
	return 0;
}

static void transfers(struct core *c)
{
	for (uint32_t i = 0; i < TRANSFERS; i++)
		transfer(c, i, 10000 + i * 1000, 10100 + i * 1010);
	core_finish(c);
}

/* Reads the connection once to learn. Returns whether it has what is chosen. */
static bool learn(void)
{
	struct core c;
	bool has;

	connection_begin(&c);
	assert_true(filter_learn(&f, &c));
	transfers(&c);
	has = filter_learned(&f, &c);
	feed_end(&c);
	return has;
}

static bool takes_socket(uint64_t sock)
{
	return filter_takes_flow(&f, (struct fact_flow_id){.sock = sock});
}

struct counted {
	struct core *core;
	enum fact kind;
	int n, all;
	uint64_t bytes;
};

static void count(void *arg, const void *fact)
{
	struct counted *k = arg;

	k->all++;
	if (!filter_takes_fact(&f, k->core, k->kind, fact))
		return;
	k->n++;
	if (k->kind == FACT_range)
		k->bytes += ((const struct fact_range *)fact)->length;
}

/* Returns the facts of a kind that the filter takes. */
static struct counted taken(enum fact kind)
{
	struct counted k = {.kind = kind};
	struct core c;

	connection_begin(&c);
	k.core = &c;
	assert_true(filter_begin(&f));
	facts_listen(core_facts(&c), kind, count, &k);
	transfers(&c);
	feed_end(&c);
	return k;
}

static void choose_process(const char *name, uint32_t pid)
{
	f.process.of[f.process.n].pid = pid;
	snprintf(f.process.of[f.process.n++].name, sizeof(f.process.of[0].name), "%s", name);
}

static void choose_peer(uint8_t last, int bits)
{
	struct mg_prefix *p = &f.peer.of[f.peer.n++].prefix;
	uint8_t addr[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, last};
	uint8_t mask[16] = {0};

	for (int i = 0; i < bits; i++)
		mask[i / 8] |= (uint8_t)(0x80 >> i % 8);
	for (int i = 0; i < 16; i++)
		addr[i] &= mask[i];
	memcpy(p->addr, addr, sizeof(addr));
	memcpy(p->mask, mask, sizeof(mask));
}

static void without_a_choice_all_is_taken(void **unused)
{
	struct counted calls = taken(FACT_call);

	(void)unused;
	assert_false(filter_is_set(&f));
	assert_int_equal(calls.n, calls.all);
	assert_int_equal(calls.n, 2 * TRANSFERS);
}

static void a_thread_has_its_calls_and_all_bytes_of_its_socket(void **unused)
{
	(void)unused;
	f.thread.tid[f.thread.n++] = SENDER;
	assert_true(learn());
	assert_int_equal(taken(FACT_call).n, TRANSFERS);
	assert_int_equal(taken(FACT_range).bytes, TRANSFERS * TRANSFER_BYTES);
	assert_true(takes_socket(A));
	assert_false(takes_socket(B));
}

static void a_thread_that_is_not_there_matches_nothing(void **unused)
{
	(void)unused;
	f.thread.tid[f.thread.n++] = 4711;
	assert_false(learn());
}

static void a_direction_has_its_calls_and_bytes(void **unused)
{
	(void)unused;
	f.directions = 1u << false;
	assert_true(learn());
	assert_int_equal(taken(FACT_call).n, TRANSFERS);
	assert_true(takes_socket(A) && takes_socket(B));
	assert_false(filter_takes_flow(&f, (struct fact_flow_id){.sock = A, .rx = true}));
}

static void a_process_is_found_by_number_or_name(void **unused)
{
	(void)unused;
	choose_process("sender", 0);
	assert_true(learn());
	assert_int_equal(taken(FACT_call).n, TRANSFERS);
	teardown(NULL);
	choose_process("nobody", 0);
	assert_false(learn());
	teardown(NULL);
	choose_process("", 4711);
	assert_false(learn());
}

static void a_peer_is_an_address_or_a_prefix(void **unused)
{
	(void)unused;
	choose_peer(2, 128);
	assert_true(learn());
	assert_true(takes_socket(A)); /* 10.0.0.1 to 10.0.0.2 */
	assert_false(takes_socket(B));
	teardown(NULL);
	choose_peer(0, 96 + 24);
	assert_true(learn());
	assert_true(takes_socket(A) && takes_socket(B));
	teardown(NULL);
	choose_peer(9, 128);
	assert_false(learn());
}

static void a_protocol_is_the_kind_of_socket(void **unused)
{
	(void)unused;
	f.kinds = 1u << MG_KIND_tcp;
	assert_true(learn());
	assert_int_equal(taken(FACT_call).n, 2 * TRANSFERS);
	teardown(NULL);
	f.kinds = 1u << MG_KIND_udp;
	assert_false(learn());
}

static void choices_of_different_kinds_are_joined_by_and(void **unused)
{
	(void)unused;
	f.thread.tid[f.thread.n++] = SENDER;
	choose_peer(1, 128); /* the receiver's peer */
	assert_true(learn());
	assert_false(takes_socket(A) || takes_socket(B));
	assert_int_equal(taken(FACT_call).n, 0);
}

static void windows_that_follow_each_other_have_each_fact_once(void **unused)
{
	static const enum fact kinds[] = {FACT_call, FACT_range, FACT_packet};
	int n, all;

	(void)unused;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		n = 0;
		f.from_ns = 0;
		f.to_ns = 15000;
		all = taken(kinds[i]).all;
		n += taken(kinds[i]).n;
		assert_in_range(n, 1, all - 1);
		f.from_ns = f.to_ns;
		f.to_ns = 0;
		n += taken(kinds[i]).n;
		assert_int_equal(n, all);
	}
}

static void a_fact_says_what_it_does_not_tell(void **unused)
{
	(void)unused;
	assert_true(filter_begin(&f));
	f.port.n = 1;
	assert_string_equal(filter_lacks(&f, FACT_wait), "sockets");
	assert_null(filter_lacks(&f, FACT_range));
	f.port.n = 0;
	f.thread.n = 1;
	assert_string_equal(filter_lacks(&f, FACT_loss), "threads");
	assert_null(filter_lacks(&f, FACT_wait));
}

static void figures_are_those_of_the_window(void **unused)
{
	uint64_t bytes = 0, followed = 0, calls = 0;
	struct fact_flow flow;

	(void)unused;
	for (int half = 0; half < 2; half++) {
		struct core c;

		f.from_ns = half ? 20000 : 0;
		f.to_ns = half ? 0 : 20000;
		assert_true(filter_begin(&f));
		connection_begin(&c);
		figures_filter(&c, &f);
		transfers(&c);
		assert_true(core_flow(&c, A, false, &flow));
		assert_int_equal(flow.calls, TRANSFERS);
		assert_true(figures_take_flow(&c, &flow));
		assert_in_range(flow.calls, 1, TRANSFERS - 1);
		assert_int_equal(flow.followed, measures(&flow)->residence.weight);
		bytes += flow_bytes(&flow);
		followed += flow.followed;
		calls += flow.calls;
		feed_end(&c);
	}
	assert_int_equal(calls, TRANSFERS);
	assert_int_equal(bytes, TRANSFERS * TRANSFER_BYTES);
	assert_int_equal(followed, TRANSFERS * TRANSFER_BYTES);
}

/* A call that waits belongs to the window in which it began, and its flow with it. */
static void a_flow_begins_with_its_first_call(void **unused)
{
	uint64_t bytes = 0;
	struct fact_flow flow;

	(void)unused;
	for (int half = 0; half < 2; half++) {
		struct core c;

		f.from_ns = half ? 15000 : 0;
		f.to_ns = half ? 0 : 15000;
		assert_true(filter_begin(&f));
		connection_begin(&c);
		figures_filter(&c, &f);
		ev_enter(&c, 10000, RECEIVER, B, MG_SYS_recvfrom, 1000);
		feed_send(&c, SENDER, A, 1000, 500, 20000, 1);
		feed_segment(&c, B, 1000, 500, 20020, 1);
		ev_copy(&c, 20030, RECEIVER, B, 1000, 500);
		ev_exit(&c, 20040, RECEIVER, B, MG_SYS_recvfrom, 1500, 500);
		core_finish(&c);
		assert_true(core_flow(&c, B, true, &flow));
		if (figures_take_flow(&c, &flow))
			bytes += flow_bytes(&flow);
		assert_int_equal(bytes, 500); /* all in the first window */
		feed_end(&c);
	}
}

/* Feeds an attempt to connect at 1,000 whose SYN is dropped and sent again, and bytes at 20,000. */
static void open_late(struct core *c, bool filtered)
{
	struct mg_event e = feed_event(MG_EVENT_sock_state, 1000, 0);

	feed_begin(c, ALL_HOOKS ",drop");
	if (filtered)
		figures_filter(c, &f);
	e.sock_state = (struct mg_sock_state){.sock = A, .now = 2, .rport = 80, .family = 2};
	feed(c, &e);
	e = feed_event(MG_EVENT_drop, 1100, 0);
	e.drop = (struct mg_drop){.sock = A, .segs = 1, .proto = 6};
	feed(c, &e);
	ev_retransmit(c, 2000, A, 999, 0);
	ev_opened(c, 19000, A, 999, 4999);
	feed_send(c, SENDER, A, 1000, 500, 20000, 1);
	ev_retransmit(c, 40000, A, 1500, 0); /* the FIN */
}

static void a_flow_lives_from_its_opening(void **unused)
{
	struct fact_flow flow;
	struct core c;

	(void)unused;
	open_late(&c, false);
	assert_true(core_flow(&c, A, false, &flow));
	assert_int_equal(flow.first, 1000);
	assert_int_equal(flow.last, 40000);
	assert_in_range(flow.first_moved, 20000, 21000);
	assert_in_range(flow.last_moved, 20000, 21000);
	feed_end(&c);
}

static void losses_without_bytes_are_in_their_window(void **unused)
{
	static const uint64_t edge[] = {0, 15000, 30000, 0}, retransmits[] = {1, 0, 1},
			      dropped[] = {1, 0, 0};
	struct fact_flow flow;

	(void)unused;
	for (int i = 0; i < 3; i++) {
		struct core c;

		f.from_ns = edge[i];
		f.to_ns = edge[i + 1];
		assert_true(filter_begin(&f));
		open_late(&c, true);
		core_finish(&c);
		assert_true(core_flow(&c, A, false, &flow));
		assert_true(figures_take_flow(&c, &flow));
		assert_int_equal(flow.retransmits, retransmits[i]);
		assert_int_equal(flow.dropped, dropped[i]);
		feed_end(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_thread_that_is_not_there_matches_nothing, teardown),
		cmocka_unit_test_teardown(a_direction_has_its_calls_and_bytes, teardown),
		cmocka_unit_test_teardown(without_a_choice_all_is_taken, teardown),
		cmocka_unit_test_teardown(
			a_thread_has_its_calls_and_all_bytes_of_its_socket, teardown),
		cmocka_unit_test_teardown(a_process_is_found_by_number_or_name, teardown),
		cmocka_unit_test_teardown(a_peer_is_an_address_or_a_prefix, teardown),
		cmocka_unit_test_teardown(a_protocol_is_the_kind_of_socket, teardown),
		cmocka_unit_test_teardown(choices_of_different_kinds_are_joined_by_and, teardown),
		cmocka_unit_test_teardown(
			windows_that_follow_each_other_have_each_fact_once, teardown),
		cmocka_unit_test_teardown(a_fact_says_what_it_does_not_tell, teardown),
		cmocka_unit_test_teardown(figures_are_those_of_the_window, teardown),
		cmocka_unit_test_teardown(a_flow_begins_with_its_first_call, teardown),
		cmocka_unit_test_teardown(a_flow_lives_from_its_opening, teardown),
		cmocka_unit_test_teardown(losses_without_bytes_are_in_their_window, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
