/* SPDX-License-Identifier: MIT */
/* coverage.c: figures with losses are flagged, not shown, or lower bounds. */
#include "event_table.h"
#include "connection.h"
#include "report.h"
#include "reported.h"

#define CALLS 200
#define EACH  1000 /* cycles, which equal ns here */
#define LAST  (10000 + CALLS * EACH)

/* Feeds calls that return at once, and a loss on CPU 0 that touches the first `n` of them. */
static void calls_and_loss(struct core *c, uint32_t n)
{
	struct mg_event lost = feed_event(MG_EVENT_lost, 10000 + n * EACH, 0);

	connection_begin(c);
	lost.lost = (struct mg_lost){
		.count = 5, .from_ns = 10000, .to_ns = 10000 + n * EACH, .producer = "ring"};
	for (uint32_t i = 0; i < CALLS; i++) {
		uint64_t t = 10100 + i * EACH;

		if (i == n && n)
			feed(c, &lost);
		ev_enter(c, t + 100, SENDER, A, MG_SYS_recvfrom, 5000);
		ev_exit(c, t + 200, SENDER, A, MG_SYS_recvfrom, 5000, -11);
		ev_app(c, SENDER, MG_FN_recv, t, t + 300, -1);
	}
	ev_switch(c, LAST, 0, SENDER, SLEEPING, 0);
}

static void without_a_loss_figures_are_whole(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	calls_and_loss(&c, 0);
	transfer(&c, 0, LAST + 1000, LAST + 1100);
	j = reported(&c);
	assert_number_at(j, "calls.0.coverage", 1);
	assert_string_equal(json_string_value(at(j, "calls.0.standing")), "whole");
	assert_number_at(j, "calls.0.overhead_ns.p50", 300);
	assert_number_at(j, "scheduler.migrations", 0);
	assert_true(json_is_false(at(j, "scheduler.at_least")));
	assert_int_equal(json_array_size(at(j, "loss.time_coverage")), 0);
	assert_number_at(j, "flows.0.retransmits", 0);
	json_decref(j);
}

/* The loss is reported after the calls it touches, by a gap of the whole ring. */
static void calls_that_a_loss_touches_are_not_complete(void **unused)
{
	struct core c;

	(void)unused;
	/* with a clock of its own, for which events wait, it is known in time */
	core_init(&c);
	figures_attach(&c);
	ev_hook(&c, 1, "sched_switch", 0, 0);
	ev_sync(&c, 1, 1, 0);
	ev_sync(&c, 50000000, 50000000, 0);
	for (uint32_t i = 0; i < 10; i++) {
		uint64_t t = 60000000 + i * 1000000;

		ev_enter(&c, t + 100, SENDER, A, MG_SYS_recvfrom, 5000);
		ev_exit(&c, t + 200, SENDER, A, MG_SYS_recvfrom, 5000, -11);
		ev_app(&c, SENDER, MG_FN_recv, t, t + 300, -1);
	}
	ev_lost(&c, 70000000, 1, 63000150, 64500000); /* the fourth and the fifth */
	ev_sync(&c, 150000000, 150000000, 0);
	core_finish(&c);
	assert_int_equal(calls_of(&c, MG_FN_recv)->joined, 8);
	assert_int_equal(calls_of(&c, MG_FN_recv)->missing, 2);
	assert_int_equal(calls_of(&c, MG_FN_recv)->complete, 8);
	feed_end(&c);
}

static void counts_with_losses_are_lower_bounds_and_zero_is_unknown(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	calls_and_loss(&c, 10); /* 10 of 200 */
	ev_waking(&c, LAST + 100, SENDER);
	ev_switch(&c, LAST + 200, 0, 0, RUNNABLE, SENDER);
	transfer(&c, 0, LAST + 1000, LAST + 1100);
	j = reported(&c);
	assert_string_equal(json_string_value(at(j, "scheduler.standing")), "starred");
	assert_number_at(j, "scheduler.wakeup_ns.max", 100);
	assert_true(json_is_true(at(j, "scheduler.wakeup_ns.max_at_least")));
	assert_null_at(j, "scheduler.migrations");
	assert_null_at(j, "flows.0.retransmits");
	assert_true(json_is_true(at(j, "flows.0.tcp.at_least")));
	assert_null_at(j, "flows.0.tcp.timeouts");
	assert_null_at(j, "flows.0.tcp.zero_windows");
	assert_true(json_array_size(at(j, "loss.time_coverage")) > 0);
	json_decref(j);
}

static void coverage_below_its_limit_is_not_shown(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	calls_and_loss(&c, 100);
	ev_waking(&c, LAST + 100, SENDER);
	ev_switch(&c, LAST + 200, 0, 0, RUNNABLE, SENDER);
	j = reported(&c);
	assert_string_equal(json_string_value(at(j, "scheduler.standing")), "withheld");
	assert_null_at(j, "scheduler.wakeup_ns.p50");
	assert_null_at(j, "scheduler.run_queue_total_ns");
	assert_number_at(j, "scheduler.wakeup_ns.max", 100);
	json_decref(j);
}

/* A refused connect() is repeated: the first attempt's numbers are not the second's. */
static void how_far_a_stream_came_is_told_by_its_own_connection(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_sock_state, 2000, 0);
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_lost(&c, 1000, 1, 900, 1000);
	ev_packet(&c, 1500, 0, MG_EVENT_dev_recv, A, 0, 0); /* the refusal */
	ev_ready_read(&c, 1600, A, 0, 0);
	e.sock_state = (struct mg_sock_state){.sock = A, .write_seq = 8, .old = 2, .now = 7};
	feed(&c, &e);
	ev_opened(&c, 3000, A, 999, 1882002858);
	assert_int_equal(rx_of(&c, A)->total, 0);
	e.time_ns = 4000;
	e.sock_state = (struct mg_sock_state){.sock = A,
		.write_seq = 1500,
		.rcv_nxt = 1882002859 + 700 + 1,
		.copied_seq = 1882002859 + 700 + 1,
		.old = 8, /* CLOSE_WAIT: the peer's FIN has been read */
		.now = 9};
	feed(&c, &e);
	assert_int_equal(rx_of(&c, A)->total, 700);
	assert_int_equal(tx_of(&c, A)->total, 500);
	core_finish(&c);
	feed_end(&c);
}

/* Returns a report in which that many of 1,000 calls lack something. */
static json_t *with_missing(uint64_t missing)
{
	struct call_stats *k, *tmp;
	struct core c;

	calls_and_loss(&c, 0);
	core_finish(&c);
	HASH_ITER (hh, figures_of(&c)->calls.calls, k, tmp) {
		k->joined = 1000;
		k->complete = 1000 - missing;
	}
	return reported(&c);
}

static void a_call_has_a_star_or_is_kept_back(void **unused)
{
	json_t *j = with_missing(20);

	(void)unused;
	assert_number_at(j, "calls.0.coverage", 0.98);
	assert_string_equal(json_string_value(at(j, "calls.0.standing")), "starred");
	assert_number_at(j, "calls.0.overhead_ns.mean", 300);
	json_decref(j);
	j = with_missing(110);
	assert_number_at(j, "calls.0.coverage", 0.89);
	assert_string_equal(json_string_value(at(j, "calls.0.standing")), "withheld");
	assert_null_at(j, "calls.0.overhead_ns.mean");
	assert_null_at(j, "calls.0.states_ns.socket");
	assert_null_at(j, "calls.0.blocked_n");
	assert_number_at(j, "calls.0.total_ns.mean", 300);
	json_decref(j);
}

/* Gaps of several producers may overlap: time missing twice counts once. */
static void time_coverage_is_by_layer_and_cpu(void **unused)
{
	static const struct mg_lost gaps[] = {
		{.cpu = 0, .from_ns = 100001, .to_ns = 200001, .reason = MG_LOST_RING_FULL},
		{.cpu = -1,
			.from_ns = 150001,
			.to_ns = 250001,
			.reason = MG_LOST_SKIPPED,
			.producer = "tcp_recv"},
		{.cpu = 1, .from_ns = 300001, .to_ns = 400001, .reason = MG_LOST_RING_FULL},
	};
	struct report r;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	for (size_t i = 0; i < COUNT(gaps); i++) {
		struct mg_event e = feed_event(MG_EVENT_lost, gaps[i].to_ns, 0);

		e.lost = gaps[i];
		feed(&c, &e);
	}
	ev_switch(&c, 1000001, 1, 0, RUNNABLE, 0);
	core_finish(&c);
	assert_int_equal(report_init(&r, &c, NULL, "a trace"), 0);
	assert_near(report_time_coverage(&r, MG_LAYER_IP, 0), 0.9, 1e-9);
	assert_near(report_time_coverage(&r, MG_LAYER_TCP, 0), 0.85, 1e-9);
	assert_near(report_time_coverage(&r, MG_LAYER_TCP, 1), 0.8, 1e-9);
	assert_near(report_layer_coverage(&r, MG_LAYER_IP), 0.9, 1e-9);
	assert_near(report_layer_coverage(&r, MG_LAYER_APP), 1, 0);
	report_free(&r);
	feed_end(&c);
}

/* One frame of twenty was not seen: its size is not known, so its bytes do not count either. */
static void goodput_is_of_bytes_whose_frames_were_seen(void **unused)
{
	struct unit_stats *u;
	struct core c;
	double whole;
	json_t *j;

	(void)unused;
	connection_record(&c);
	j = reported(&c);
	whole = json_number_value(at(j, "flows.0.modulation.goodput_ratio"));
	assert_true(whole > 0.1);
	json_decref(j);
	connection_record(&c);
	u = &measured(tx_of(&c, A))->units[TX_XMIT];
	u->bytes -= TRANSFER_BYTES;
	u->wire_bytes -= u->wire_bytes / TRANSFERS;
	j = reported(&c);
	assert_near(
		json_number_value(at(j, "flows.0.modulation.goodput_ratio")), whole, 1e-9 * whole);
	json_decref(j);
}

/* The sender was met later than the reader: bytes read that it wrote before do not count. */
static void goodput_is_of_bytes_both_ends_have(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	connection_record(&c);
	tx_of(&c, A)->start = 5 * TRANSFER_BYTES;
	tx_of(&c, A)->complete = 15 * TRANSFER_BYTES;
	measured(tx_of(&c, A))->units[TX_XMIT].bytes = 15 * TRANSFER_BYTES;
	measured(tx_of(&c, A))->units[TX_XMIT].wire_bytes = 20 * TRANSFER_BYTES;
	j = reported(&c);
	assert_number_at(j, "flows.0.modulation.goodput_ratio", 0.75);
	assert_number_at(j, "flows.1.modulation.goodput_ratio", 0.75);
	json_decref(j);
}

/* 20 s, of which the last 5 were kept: a quarter of the recording, however much is left of that. */
static void parts_not_kept_count_by_recording_time(void **unused)
{
	const uint64_t s = 1000000000;
	struct mg_event e = feed_event(MG_EVENT_chunk, 115 * s, 0);
	struct core c;
	json_t *j;

	(void)unused;
	feed_begin(&c, "");
	core_know_times(&c, 100 * s, 120 * s);
	e.chunk.number = 1;
	e.chunk.from_ns = e.chunk.before_ns = 115 * s;
	feed(&c, &e);
	ev_switch(&c, 116 * s, 0, SENDER, SLEEPING, 0);
	e = feed_event(MG_EVENT_trace_end, 120 * s, 0);
	feed(&c, &e);
	j = reported(&c);
	assert_number_at(j, "scheduler.coverage", 0.25);
	assert_number_at(j, "loss.time_coverage.0.coverage", 0.25);
	json_decref(j);
}

/* A surplus in one cut-off trace does not make up for events missing in another. */
static void one_trace_does_not_make_up_for_another(void **unused)
{
	struct report r;
	struct core c;

	(void)unused;
	feed_begin(&c, "");
	for (int i = 0; i < 3; i++)
		core_expect_contents(&c, CORE_KERNEL);
	core_read_trace(&c, CORE_KERNEL, 60, 100);
	core_read_trace(&c, CORE_KERNEL, 100, 100);
	core_read_trace(&c, CORE_KERNEL, 50, 0);
	assert_int_equal(core_finish(&c), 0);
	assert_int_equal(c.side[CORE_KERNEL].read, 210);
	assert_int_equal(report_init(&r, &c, NULL, "test"), 0);
	assert_int_equal(report_missing_events(&r).kernel, 40);
	assert_int_equal(report_missing_events(&r).too_many, 0);
	report_free(&r);
	core_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_loss_figures_are_whole),
		cmocka_unit_test(calls_that_a_loss_touches_are_not_complete),
		cmocka_unit_test(counts_with_losses_are_lower_bounds_and_zero_is_unknown),
		cmocka_unit_test(coverage_below_its_limit_is_not_shown),
		cmocka_unit_test(a_call_has_a_star_or_is_kept_back),
		cmocka_unit_test(goodput_is_of_bytes_whose_frames_were_seen),
		cmocka_unit_test(goodput_is_of_bytes_both_ends_have),
		cmocka_unit_test(time_coverage_is_by_layer_and_cpu),
		cmocka_unit_test(how_far_a_stream_came_is_told_by_its_own_connection),
		cmocka_unit_test(one_trace_does_not_make_up_for_another),
		cmocka_unit_test(parts_not_kept_count_by_recording_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
