/* SPDX-License-Identifier: MIT */
/* The blocks of a recording add up to its totals, however often their width doubles. */
#include "connection.h"
#include "sampling.h"

static double all(const struct subject *s, int sum)
{
	double total = 0;

	assert_non_null(s);
	for (int i = 0; i < SAMPLING_BLOCKS; i++)
		total += s->block[sum][i];
	return total;
}

static const struct subject *of_call(const struct sampling *s, uint16_t call)
{
	struct subject_key key = {.what = SUBJECT_CALL, .kind = MG_KIND_tcp, .call = call};

	return sampling_find(s, &key);
}

static const struct subject *of_flow(const struct sampling *s, bool rx)
{
	struct subject_key key = {
		.what = SUBJECT_FLOW, .kind = MG_KIND_tcp, .rx = rx, .side = SIDE_CLIENT};

	return sampling_find(s, &key);
}

/* Records a transfer every `gap` ns. */
static void record(struct core *c, struct sampling *s, uint32_t n, uint64_t gap)
{
	sampling_init(s, c);
	connection_begin(c);
	core_listen(c, sampling_event, s);
	for (uint32_t i = 0; i < n; i++)
		transfer(c, i, 10000 + i * gap, 10100 + i * gap);
	core_finish(c);
	sampling_finish(s);
}

static void assert_totals(const struct core *c, const struct sampling *s)
{
	const struct flow *rx = rx_of(c, B), *tx = tx_of(c, A);
	const struct call_stats *send = calls_of(c, MG_FN_send);

	assert_near(all(of_call(s, MG_FN_send), CALL_N), (double)send->n, 0);
	assert_near(all(of_call(s, MG_FN_send), CALL_TOTAL), (double)send->total.sum, 0);
	assert_near(all(of_call(s, MG_FN_send), CALL_OVERHEAD), (double)send->overhead.sum, 0);
	assert_near(
		all(of_flow(s, true), FLOW_RESIDENCE), (double)measures_in(rx)->residence.sum, 0);
	assert_near(all(of_flow(s, true), FLOW_RESIDENCE_WEIGHT),
		(double)measures_in(rx)->residence.weight, 0);
	for (int i = 0; i < RX_STAGES; i++)
		assert_near(all(of_flow(s, true), FLOW_STAGE + i),
			(double)measures_in(rx)->stage[i].sum, 0);
	assert_near(all(of_flow(s, false), FLOW_BYTES), (double)tx->total, 0);
	assert_near(
		all(of_flow(s, false), FLOW_LIFE), (double)(tx->active.last - tx->active.first), 0);
	assert_near(all(of_flow(s, false), FLOW_GAP), (double)(tx->use.last - tx->use.first), 0);
	assert_near(all(of_flow(s, true), FLOW_MOVED),
		dist_mean_abs_dev(&measures_in(rx)->shift) * (double)measures_in(rx)->shift.weight,
		1e-6);
}

static void end(struct core *c, struct sampling *s)
{
	sampling_free(s);
	feed_end(c);
}

static void blocks_add_up_to_the_totals(void **unused)
{
	struct sampling s;
	struct core c;

	(void)unused;
	record(&c, &s, 100, 1000000);
	assert_int_equal(s.width_ns, 1000000);
	assert_totals(&c, &s);
	assert_near(of_call(&s, MG_FN_send)->block[CALL_N][50], 1, 0);
	end(&c, &s);
}

static void a_long_recording_has_wider_blocks(void **unused)
{
	struct sampling s;
	struct core c;

	(void)unused;
	record(&c, &s, 900, 1000000);
	assert_int_equal(s.width_ns, 4000000);
	assert_totals(&c, &s);
	for (int i = 0; i < 225; i++)
		assert_near(of_call(&s, MG_FN_send)->block[CALL_N][i], 4, 1);
	assert_near(of_call(&s, MG_FN_send)->block[CALL_N][226], 0, 0);
	end(&c, &s);
}

/* A pause may be longer than all remaining blocks. */
static void a_pause_is_empty_blocks(void **unused)
{
	struct sampling s;
	struct core c;

	(void)unused;
	record(&c, &s, 3, 400000000);
	assert_totals(&c, &s);
	assert_near(of_call(&s, MG_FN_send)->block[CALL_N][0], 1, 0);
	assert_near(of_call(&s, MG_FN_send)->block[CALL_N][100], 1, 0);
	assert_near(of_call(&s, MG_FN_send)->block[CALL_N][200], 1, 0);
	end(&c, &s);
}

static void opened(struct core *c, uint64_t sock, int opener, uint16_t lport, uint16_t rport)
{
	struct mg_event e = feed_event(MG_EVENT_sock_state, 50, 0);

	e.sock_state.sock = sock;
	e.sock_state.write_seq = e.sock_state.rcv_nxt = 1000;
	e.sock_state.old = 2;
	e.sock_state.now = 1;
	e.sock_state.opener = (uint8_t)opener;
	e.sock_state.lport = lport;
	e.sock_state.rport = rport;
	feed(c, &e);
}

/* Several connections to one server are one role, whatever their own ports. */
static void flows_are_told_by_their_role(void **unused)
{
	struct subject_key client = {.what = SUBJECT_FLOW, .kind = MG_KIND_tcp, .port = 80},
			   server = client;
	struct sampling s;
	struct core c;

	(void)unused;
	sampling_init(&s, &c);
	feed_begin(&c, ALL_HOOKS);
	opened(&c, 1, 1, 40001, 80);
	opened(&c, 2, 1, 40002, 80);
	opened(&c, 3, 2, 80, 40001);
	feed_send(&c, SENDER, 1, 1000, 100, 1000, 1);
	feed_send(&c, SENDER, 2, 1000, 200, 2000, 1);
	feed_send(&c, RECEIVER, 3, 1000, 50, 3000, 1);
	core_finish(&c);
	sampling_finish(&s);
	client.side = SIDE_CLIENT;
	server.side = SIDE_SERVER;
	assert_near(all(sampling_find(&s, &client), FLOW_BYTES), 300, 0);
	assert_near(all(sampling_find(&s, &server), FLOW_BYTES), 50, 0);
	end(&c, &s);
}

static void stamp(struct core *c, uint64_t t, unsigned int id, uint32_t end)
{
	struct mg_event e = feed_event(id, t, 0);

	e.stamp = (struct mg_stamp){.sock = A, .end = end};
	feed(c, &e);
}

/* The times of sends by the kernel's timestamps count in the block in which they are acknowledged.
 */
static void timed_sends_are_in_blocks(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_stamp_send, 1000, SENDER);
	struct sampling s;
	struct core c;

	(void)unused;
	sampling_init(&s, &c);
	feed_begin(&c, "stamp_send,tcp_state");
	core_listen(&c, sampling_event, &s);
	ev_opened(&c, 10, A, 999, 4999);
	for (uint32_t i = 1; i <= 3; i++) {
		e.time_ns = e.cycles = i * 10000000ull;
		e.stamp_send = (struct mg_stamp_send){.sock = A,
			.end = 1000 + i * 100,
			.snd_una = 900 + i * 100,
			.snd_nxt = 900 + i * 100};
		feed(&c, &e);
		stamp(&c, e.cycles + 50, MG_EVENT_stamp_queue, 1000 + i * 100);
		stamp(&c, e.cycles + 70, MG_EVENT_stamp_driver, 1000 + i * 100);
		stamp(&c, e.cycles + 70 + i, MG_EVENT_stamp_ack, 1000 + i * 100);
	}
	core_finish(&c);
	sampling_finish(&s);
	assert_near(all(of_flow(&s, false), FLOW_TIMED + TIMED_SEND_BUFFER), 150, 0);
	assert_near(all(of_flow(&s, false), FLOW_TIMED + TIMED_QUEUE), 60, 0);
	assert_near(of_flow(&s, false)->block[FLOW_TIMED + TIMED_NETWORK][20], 2, 0);
	assert_near(all(of_flow(&s, false), FLOW_TIMED_AT_MOST), 216, 0);
	assert_near(all(of_flow(&s, false), FLOW_TIMED_AT_MOST_N), 3, 0);
	assert_near(all(of_flow(&s, false), FLOW_BYTES), 300, 0);
	assert_near(all(of_flow(&s, false), FLOW_LIFE), 20000073, 0);
	end(&c, &s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_add_up_to_the_totals),
		cmocka_unit_test(a_long_recording_has_wider_blocks),
		cmocka_unit_test(a_pause_is_empty_blocks),
		cmocka_unit_test(flows_are_told_by_their_role),
		cmocka_unit_test(timed_sends_are_in_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
