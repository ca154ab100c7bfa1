/* SPDX-License-Identifier: MIT */
/* Sent bytes, each with one time per layer; ISN 999, so that byte 0 is number 1000. */
#include "feed.h"

#define TID  10
#define SOCK 1

static void open_core(struct core *c, const char *hooks)
{
	feed_begin(c, hooks);
	ev_opened(c, 10, SOCK, 999, 4999);
}

static void assert_bytes(const struct core *c, uint64_t complete, uint64_t incomplete)
{
	assert_int_equal(tx_of(c, SOCK)->complete, complete);
	assert_int_equal(tx_of(c, SOCK)->incomplete, incomplete);
}

static void each_stage_is_the_time_between_its_layers(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	feed_send(&c, TID, SOCK, 1000, 1448, 10000, 100);
	f = tx_of(&c, SOCK);
	assert_bytes(&c, 1448, 0);
	assert_int_equal(stage_sum(f, TX_STAGE_CALL), 200 * 1448);   /* U0 to C */
	assert_int_equal(stage_sum(f, TX_STAGE_SNDBUF), 100 * 1448); /* C to N */
	assert_int_equal(stage_sum(f, TX_STAGE_IP), 200 * 1448);     /* N to Q */
	assert_int_equal(stage_sum(f, TX_STAGE_QDISC), 100 * 1448);  /* Q to X */
	assert_int_equal(stage_sum(f, TX_STAGE_DRIVER), 100 * 1448); /* X to Y */
	assert_true(measures_in(f)->residence.sum == 700 * 1448);
	assert_true(measures_in(f)->shift.sum == 600 * 1448);
	feed_end(&c);
}

static void a_layer_without_hooks_has_no_stage(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send,dev_xmit"); /* the rest is recorded all the same */
	feed_send(&c, TID, SOCK, 1000, 1000, 10000, 100);
	f = tx_of(&c, SOCK);
	assert_bytes(&c, 1000, 0);
	assert_int_equal(stage_sum(f, TX_STAGE_CALL), 200 * 1000);
	assert_int_equal(stage_sum(f, TX_STAGE_SNDBUF), 400 * 1000); /* C to X */
	assert_int_equal(measures_in(f)->stage[TX_STAGE_IP].n, 0);
	assert_int_equal(measures_in(f)->stage[TX_STAGE_QDISC].n, 0);
	assert_true(measures_in(f)->residence.sum == 600 * 1000);
	feed_end(&c);
}

static void events_stand_for_missing_hook_records(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, "");
	feed_send(&c, TID, SOCK, 1000, 1000, 10000, 100);
	f = tx_of(&c, SOCK);
	assert_bytes(&c, 1000, 0);
	assert_int_equal(stage_sum(f, TX_STAGE_QDISC), 100 * 1000);
	assert_true(measures_in(f)->residence.sum == 700 * 1000);
	ev_hook(&c, 20000, "dev_xmit", 0, 0); /* and now it does */
	feed_send(&c, TID, SOCK, 2000, 1000, 30000, 100);
	assert_true(measures_in(f)->residence.sum == 1300 * 1000);
	feed_end(&c);
}

static void hooks_of_another_namespace_are_not_waited_for(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, "tcp_send,dev_xmit,dev_done");
	ev_hook(&c, 1, "ip_out ipv4", 0, 77);
	ev_opened_in(&c, 10, SOCK, 999, 4999, 78);
	ev_enter(&c, 1000, TID, SOCK, MG_SYS_sendto, 1000);
	ev_send(&c, 1100, TID, SOCK, 1000, 10, 1000);
	ev_packet(&c, 1200, TID, MG_EVENT_dev_xmit, SOCK, 1000, 10);
	ev_done(&c, 1300, TID, SOCK, 1000, 10);
	ev_exit(&c, 1400, TID, SOCK, MG_SYS_sendto, 1010, 10);
	ev_app(&c, TID, MG_FN_send, 900, 1500, 10);
	assert_bytes(&c, 10, 0);
	feed_end(&c);
}

/* One call of 3,000 bytes, sent as three segments: each byte has its own segment's time. */
static void bytes_of_one_call_may_leave_one_after_another(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send,dev_xmit");
	ev_enter(&c, 1000, TID, SOCK, MG_SYS_sendto, 1000);
	ev_send(&c, 1100, TID, SOCK, 1000, 3000, 1000);
	ev_exit(&c, 1200, TID, SOCK, MG_SYS_sendto, 4000, 3000);
	ev_app(&c, TID, MG_FN_send, 900, 1300, 3000);
	for (uint32_t i = 0; i < 3; i++)
		ev_packet(&c, 2000 + i * 500, 0, MG_EVENT_dev_xmit, SOCK, 1000 + i * 1000, 1000);
	core_finish(&c);
	f = tx_of(&c, SOCK);
	assert_bytes(&c, 3000, 0);
	assert_int_equal(stage_sum(f, TX_STAGE_SNDBUF), (900 + 1400 + 1900) * 1000);
	assert_int_equal(measures_in(f)->units[TX_XMIT].n, 3);
	assert_near(unit_mean_gap(&measures_in(f)->units[TX_XMIT]), 500, 0);
	assert_int_equal(measures_in(f)->units[TX_XMIT].wire_bytes, 3 * 1054);
	feed_end(&c);
}

/* Two small calls may leave in one segment (Nagle, corking). */
static void bytes_of_two_calls_may_leave_together(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send,dev_xmit");
	for (uint32_t i = 0; i < 2; i++) {
		ev_enter(&c, 1100 + i * 1000, TID, SOCK, MG_SYS_sendto, 1000 + i * 50);
		ev_send(&c, 1200 + i * 1000, TID, SOCK, 1000 + i * 50, 50, 1000);
		ev_exit(&c, 1300 + i * 1000, TID, SOCK, MG_SYS_sendto, 1050 + i * 50, 50);
		ev_app(&c, TID, MG_FN_send, 1000 + i * 1000, 1400 + i * 1000, 50);
	}
	ev_packet(&c, 5200, 0, MG_EVENT_dev_xmit, SOCK, 1000, 100);
	core_finish(&c);
	f = tx_of(&c, SOCK);
	assert_bytes(&c, 100, 0);
	assert_int_equal(stage_sum(f, TX_STAGE_CALL), 200 * 100);
	assert_int_equal(stage_sum(f, TX_STAGE_SNDBUF), 4000 * 50 + 3000 * 50);
	assert_int_equal(f->use.calls, 2);
	assert_int_equal(f->use.first, 1000);
	assert_int_equal(f->use.last, 2000);
	feed_end(&c);
}

/* All of a call is through with its last byte, which may be long after the average one. */
static void the_last_byte_of_each_call_counts_once(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send,dev_xmit");
	for (uint32_t i = 0; i < 2; i++) {
		ev_enter(&c, 1100 + i * 1000, TID, SOCK, MG_SYS_sendto, 1000 + i * 300);
		ev_send(&c, 1200 + i * 1000, TID, SOCK, 1000 + i * 300, 300, 1000);
		ev_exit(&c, 1300 + i * 1000, TID, SOCK, MG_SYS_sendto, 1300 + i * 300, 300);
		ev_app(&c, TID, MG_FN_send, 1000 + i * 1000, 1400 + i * 1000, 300);
	}
	ev_packet(&c, 5000, 0, MG_EVENT_dev_xmit, SOCK, 1000, 400);
	ev_packet(&c, 9000, 0, MG_EVENT_dev_xmit, SOCK, 1400, 200);
	core_finish(&c);
	f = tx_of(&c, SOCK);
	assert_int_equal(measures_in(f)->last_byte.n, 2);
	assert_true(measures_in(f)->last_byte.sum == 4000 + 7000);
	assert_int_equal(f->call_ends.len, 0);
	assert_true(measures_in(f)->residence.sum == 4000ull * 300 + 3000 * 100 + 7000 * 200);
	feed_end(&c);
}

static void the_stream_may_cross_the_end_of_sequence_numbers(void **unused)
{
	uint32_t isn = 0xfffffc00u;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, isn, 4999);
	for (uint32_t i = 0; i < 20; i++)
		feed_send(&c, TID, SOCK, isn + 1 + i * 100, 100, 10000 + i * 1000, 100);
	assert_bytes(&c, 2000, 0);
	assert_true(measures_in(tx_of(&c, SOCK))->residence.sum == 700 * 2000);
	feed_end(&c);
}

/* Synthetic calls of 1 GiB, the largest window there can be. */
static void the_stream_may_be_longer_than_4_gib(void **unused)
{
	uint32_t gib = 1u << 30;
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	for (uint32_t i = 0; i < 10; i++)
		feed_send(&c, TID, SOCK, 1000 + i * gib, gib, 10000 + i * 1000, 100);
	assert_bytes(&c, 10ull << 30, 0);
	assert_int_equal(tx_of(&c, SOCK)->total, 10ull << 30);
	assert_true(measures_in(tx_of(&c, SOCK))->residence.sum == 700ull * 10 << 30);
	feed_end(&c);
}

static void bytes_are_announced_with_their_offset(
	void *arg, const struct mg_event *e, const struct annotation *a)
{
	if (e->id != MG_EVENT_dev_xmit)
		return;
	assert_true(a->has_offset);
	assert_false(a->rx);
	assert_int_equal(a->offset, 500);
	assert_int_equal(a->length, 250);
	assert_int_equal(a->sock->cookie, SOCK);
	++*(int *)arg;
}

static void listeners_are_told_which_bytes_an_event_is_about(void **unused)
{
	struct core c;
	int seen = 0;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	core_listen(&c, bytes_are_announced_with_their_offset, &seen);
	feed_send(&c, TID, SOCK, 1500, 250, 10000, 100);
	assert_int_equal(seen, 1);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_stage_is_the_time_between_its_layers),
		cmocka_unit_test(a_layer_without_hooks_has_no_stage),
		cmocka_unit_test(events_stand_for_missing_hook_records),
		cmocka_unit_test(hooks_of_another_namespace_are_not_waited_for),
		cmocka_unit_test(bytes_of_one_call_may_leave_one_after_another),
		cmocka_unit_test(bytes_of_two_calls_may_leave_together),
		cmocka_unit_test(the_last_byte_of_each_call_counts_once),
		cmocka_unit_test(the_stream_may_cross_the_end_of_sequence_numbers),
		cmocka_unit_test(the_stream_may_be_longer_than_4_gib),
		cmocka_unit_test(listeners_are_told_which_bytes_an_event_is_about),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
