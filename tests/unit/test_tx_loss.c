/* SPDX-License-Identifier: MIT */
/* Sent bytes with missing events, or with times that cannot be. */
#include "feed.h"

#define TID  10
#define SOCK 1
#define MS   1000000ull

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

/* Feeds a send whose segments are still to come. */
static void call_only(struct core *c, uint32_t seq, uint32_t len, uint64_t at)
{
	ev_enter(c, at + 100, TID, SOCK, MG_SYS_sendto, seq);
	ev_send(c, at + 200, TID, SOCK, seq, len, 1000);
	ev_exit(c, at + 300, TID, SOCK, MG_SYS_sendto, seq + len, len);
	ev_app(c, TID, MG_FN_send, at, at + 400, len);
}

/* Feeds a send whose device event for the middle third was lost. */
static void send_with_a_hole(struct core *c)
{
	call_only(c, 1000, 3000, 1000);
	ev_packet(c, 2000, 0, MG_EVENT_dev_xmit, SOCK, 1000, 1000);
	ev_packet(c, 2200, 0, MG_EVENT_dev_xmit, SOCK, 3000, 1000);
}

static void bytes_without_a_timestamp_are_left_out_and_counted(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send,dev_xmit");
	ev_lost(&c, 2100, 1, 2000, 2200);
	send_with_a_hole(&c);
	ev_ack(&c, 3000, SOCK, 4000);
	core_finish(&c);
	assert_bytes(&c, 2000, 1000);
	assert_int_equal(c.counts.lost_kernel, 1);
	assert_int_equal(tx_of(&c, SOCK)->missing.gaps, 1);
	/* no time is invented for them */
	assert_int_equal(stage_sum(tx_of(&c, SOCK), TX_STAGE_SNDBUF), (800 + 1000) * 1000);
	feed_end(&c);
}

/* Bytes never acknowledged may still be on their way when the recording ends. */
static void bytes_in_flight_at_the_end_are_not_incomplete(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send,dev_xmit");
	send_with_a_hole(&c);
	core_finish(&c);
	assert_bytes(&c, 1000, 0);
	feed_end(&c);
}

/* Some time after the acknowledgement no missing event is expected any more: memory is freed. */
static void a_hole_does_not_hold_up_the_stream_for_ever(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send,dev_xmit");
	send_with_a_hole(&c);
	for (uint32_t i = 0; i < 10; i++) {
		uint64_t at = (i + 1) * 60 * MS;

		ev_ack(&c, at, SOCK, 4000 + i * 100);
		call_only(&c, 4000 + i * 100, 100, at + 1000);
		ev_packet(&c, at + 9000, 0, MG_EVENT_dev_xmit, SOCK, 4000 + i * 100, 100);
	}
	assert_int_equal(tx_of(&c, SOCK)->incomplete, 1000);
	assert_true(tx_of(&c, SOCK)->layer[TX_CALL].len <= 3);
	ev_ack(&c, 700 * MS, SOCK, 5000);
	core_finish(&c);
	assert_bytes(&c, 2000 + 1000, 1000);
	feed_end(&c);
}

/* Feeds a send without application event, whose segment leaves after the call: it is paced. */
static void paced(struct core *c, uint32_t tid, uint32_t seq, uint64_t at)
{
	ev_enter(c, at, tid, SOCK, MG_SYS_sendto, seq);
	ev_send(c, at + 100, tid, SOCK, seq, 100, seq);
	ev_exit(c, at + 200, tid, SOCK, MG_SYS_sendto, seq + 100, 100);
	ev_packet(c, at + 300, 0, MG_EVENT_dev_xmit, SOCK, seq, 100);
	ev_done(c, at + 400, 0, SOCK, seq, 100);
	ev_ack(c, at + 9000, SOCK, seq + 100);
}

/* Such calls are settled late, as an event might still come: that is no loss. */
static void calls_not_settled_yet_are_not_given_up(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send,dev_xmit,dev_done");
	for (uint32_t i = 0; i < 20; i++)
		paced(&c, TID, 1000 + i * 100, (i + 1) * 40 * MS);
	core_finish(&c);
	assert_bytes(&c, 2000, 0);
	feed_end(&c);
}

/* Nor is it if one thread sends the first message, and others the rest. */
static void the_only_call_of_a_thread_is_not_given_up(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send,dev_xmit,dev_done");
	paced(&c, TID + 1, 1000, 20 * MS);
	for (uint32_t i = 1; i < 20; i++)
		paced(&c, TID, 1000 + i * 100, (i + 1) * 40 * MS);
	core_finish(&c);
	assert_bytes(&c, 2000, 0);
	feed_end(&c);
}

/* The lost exit of one call must not hold up the stream either. */
static void a_lost_exit_does_not_hold_up_the_stream(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send,dev_xmit");
	ev_enter(&c, 1000, TID, SOCK, MG_SYS_sendto, 1000);
	ev_send(&c, 1100, TID, SOCK, 1000, 100, 1000);
	for (uint32_t i = 0; i < 10; i++) {
		uint64_t at = (i + 1) * 60 * MS;

		call_only(&c, 1100 + i * 100, 100, at);
		ev_packet(&c, at + 9000, 0, MG_EVENT_dev_xmit, SOCK, 1100 + i * 100, 100);
		ev_ack(&c, at + 10000, SOCK, 1200 + i * 100);
	}
	assert_true(tx_of(&c, SOCK)->complete >= 700);
	feed_end(&c);
}

static void a_timestamp_before_its_predecessor_makes_no_range(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send,dev_queue,dev_xmit");
	call_only(&c, 1000, 500, 1000);
	ev_packet(&c, 3000, 0, MG_EVENT_dev_xmit, SOCK, 1000, 500);
	ev_packet(&c, 4000, 0, MG_EVENT_dev_queue, SOCK, 1000, 500);
	ev_ack(&c, 5000, SOCK, 1500);
	core_finish(&c);
	assert_bytes(&c, 0, 500);
	feed_end(&c);
}

/* Within the clock's bound the reading is wrong; stages still sum to their total. */
static void within_the_bound_it_is_moved_and_all_still_closes(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin_uncertain(&c, "tcp_send,dev_queue,dev_xmit", 50);
	ev_opened(&c, 10, SOCK, 999, 4999);
	call_only(&c, 1000, 500, 1000);
	ev_packet(&c, 3000, 0, MG_EVENT_dev_xmit, SOCK, 1000, 500);
	ev_packet(&c, 3040, 0, MG_EVENT_dev_queue, SOCK, 1000, 500);
	core_finish(&c);
	assert_bytes(&c, 500, 0);
	assert_int_equal(stage_sum(tx_of(&c, SOCK), TX_STAGE_QDISC), 0);
	feed_end(&c);
}

/* The first send after the late attachment makes bytes 1,000 to 1,500 of the stream. */
static void a_late_socket_counts_from_its_offset(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_sock_open, 50, 0);
	const struct flow *f;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	e.sock_open.sock = SOCK;
	e.sock_open.bytes_acked = 1001;
	e.sock_open.snd_una = e.sock_open.snd_nxt = 70000;
	e.sock_open.sent_once = 1000;
	feed(&c, &e);
	feed_send(&c, TID, SOCK, 70000, 500, 1000, 100);
	f = tx_of(&c, SOCK);
	assert_bytes(&c, 500, 0);
	assert_int_equal(f->done, 1500);
	assert_true(measures_in(f)->residence.sum == 700 * 500);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_without_a_timestamp_are_left_out_and_counted),
		cmocka_unit_test(bytes_in_flight_at_the_end_are_not_incomplete),
		cmocka_unit_test(a_hole_does_not_hold_up_the_stream_for_ever),
		cmocka_unit_test(calls_not_settled_yet_are_not_given_up),
		cmocka_unit_test(the_only_call_of_a_thread_is_not_given_up),
		cmocka_unit_test(a_lost_exit_does_not_hold_up_the_stream),
		cmocka_unit_test(a_timestamp_before_its_predecessor_makes_no_range),
		cmocka_unit_test(within_the_bound_it_is_moved_and_all_still_closes),
		cmocka_unit_test(a_late_socket_counts_from_its_offset),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
