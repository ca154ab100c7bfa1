/* SPDX-License-Identifier: MIT */
/* rx.c and rx_range.c: layers without hooks, sockets met late, and bytes with missing events. */
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
	assert_int_equal(rx_of(c, SOCK)->complete, complete);
	assert_int_equal(rx_of(c, SOCK)->incomplete, incomplete);
}

static void bytes_without_a_timestamp_are_left_out_and_counted(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	feed_segment(&c, SOCK, 5000, 1000, 2000, 100);
	ev_lost(&c, 3000, 1, 2900, 3100);
	ev_packet(&c, 3100, 0, MG_EVENT_ip_in, SOCK, 6000, 1000); /* its dev_recv was lost */
	ev_tcp(&c, 3200, SOCK, 6000, 1000);
	ev_ready(&c, 3300, SOCK, 7000);
	feed_segment(&c, SOCK, 7000, 1000, 4000, 100);
	feed_recv(&c, TID, SOCK, 5000, 3000, 9000, 100);
	/* nor is it known whether a reader came for the first bytes meanwhile */
	assert_bytes(&c, 1000, 2000);
	assert_int_equal(rx_of(&c, SOCK)->missing.gaps, 1);
	assert_int_equal(stage_sum(rx_of(&c, SOCK), RX_STAGE_DEV_IP), 100 * 1000);
	feed_end(&c);
}

static void bytes_read_before_they_were_known_in_order_are_left_out(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	ev_packet(&c, 2000, 0, MG_EVENT_dev_recv, SOCK, 5000, 1000);
	ev_packet(&c, 2100, 0, MG_EVENT_ip_in, SOCK, 5000, 1000);
	ev_tcp(&c, 2200, SOCK, 5000, 1000); /* its tcp_ready was lost */
	feed_recv(&c, TID, SOCK, 5000, 1000, 3000, 100);
	assert_bytes(&c, 0, 1000);
	/* the next read must not take the bytes that were read for its own */
	feed_segment(&c, SOCK, 6000, 500, 5000, 100);
	feed_recv(&c, TID, SOCK, 6000, 500, 6000, 100);
	assert_bytes(&c, 500, 1000);
	assert_int_equal(measures_in(rx_of(&c, SOCK))->units[RX_READY].bytes, 500);
	feed_end(&c);
}

static void a_timestamp_before_its_predecessor_makes_no_range(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	ev_packet(&c, 2000, 0, MG_EVENT_ip_in, SOCK, 5000, 1000);
	ev_packet(&c, 2100, 0, MG_EVENT_dev_recv, SOCK, 5000, 1000);
	ev_tcp(&c, 2200, SOCK, 5000, 1000);
	ev_ready(&c, 2300, SOCK, 6000);
	feed_recv(&c, TID, SOCK, 5000, 1000, 3000, 100);
	assert_bytes(&c, 0, 1000);
	feed_end(&c);
}

static void within_the_clocks_bound_it_is_moved_and_all_still_closes(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin_uncertain(&c, ALL_HOOKS, 50);
	ev_opened(&c, 10, SOCK, 999, 4999);
	feed_segment(&c, SOCK, 5000, 1000, 2000, 100);
	ev_enter(&c, 3000, TID, SOCK, MG_SYS_recvfrom, 5000);
	ev_copy(&c, 3100, TID, SOCK, 5000, 1000);
	ev_exit(&c, 3110, TID, SOCK, MG_SYS_recvfrom, 6000, 1000);
	ev_app(&c, TID, MG_FN_recv, 2900, 3080, 1000); /* back before the copy, by another clock */
	assert_bytes(&c, 1000, 0);
	assert_int_equal(stage_sum(rx_of(&c, SOCK), RX_STAGE_RETURN), 0);
	feed_end(&c);
}

/*
 * A light recording has no device layer: then the first stage begins at the first layer there is.
 */
static void without_the_device_layer_the_way_begins_at_ip(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, "ip_in ipv4,tcp_recv,tcp_ready,sock_copy");
	ev_packet(&c, 2100, 0, MG_EVENT_ip_in, SOCK, 5000, 1000);
	ev_tcp(&c, 2200, SOCK, 5000, 1000);
	ev_ready(&c, 2300, SOCK, 6000);
	feed_recv(&c, TID, SOCK, 5000, 1000, 3000, 100);
	f = rx_of(&c, SOCK);
	assert_bytes(&c, 1000, 0);
	assert_int_equal(stage_sum(f, RX_STAGE_DEV_IP), 0);
	assert_int_equal(stage_sum(f, RX_STAGE_IP_TCP), 200 * 1000);
	assert_true(measures_in(f)->residence.sum == 1300 * 1000);
	feed_end(&c);
}

static void without_device_and_ip_it_begins_at_tcp(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, "tcp_recv,tcp_ready,sock_copy");
	ev_tcp(&c, 2200, SOCK, 5000, 1000);
	ev_ready(&c, 2300, SOCK, 6000);
	feed_recv(&c, TID, SOCK, 5000, 1000, 3000, 100);
	f = rx_of(&c, SOCK);
	assert_bytes(&c, 1000, 0);
	assert_int_equal(stage_sum(f, RX_STAGE_DEV_IP), 0);
	assert_int_equal(stage_sum(f, RX_STAGE_IP_TCP), 100 * 1000);
	assert_int_equal(stage_sum(f, RX_STAGE_ORDER), 0);
	assert_true(measures_in(f)->residence.sum == 1200 * 1000);
	feed_end(&c);
}

static void without_ip_there_is_no_stage_for_it(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, "dev_recv,tcp_recv,tcp_ready,sock_copy");
	ev_packet(&c, 2000, 0, MG_EVENT_dev_recv, SOCK, 5000, 1000);
	ev_tcp(&c, 2200, SOCK, 5000, 1000);
	ev_ready(&c, 2300, SOCK, 6000);
	feed_recv(&c, TID, SOCK, 5000, 1000, 3000, 100);
	f = rx_of(&c, SOCK);
	assert_bytes(&c, 1000, 0);
	assert_int_equal(stage_sum(f, RX_STAGE_DEV_IP), 0);
	assert_int_equal(stage_sum(f, RX_STAGE_IP_TCP), 300 * 1000);
	assert_true(measures_in(f)->residence.sum == 1400 * 1000);
	feed_end(&c);
}

static void late(struct core *c, uint64_t received)
{
	struct mg_event e = feed_event(MG_EVENT_sock_open, 50, 0);

	feed_begin(c, ALL_HOOKS);
	e.sock_open.sock = SOCK;
	e.sock_open.bytes_received = received;
	e.sock_open.rcv_nxt = 5000;
	feed(c, &e);
}

static void a_late_socket_counts_from_its_offset(void **unused)
{
	struct core c;

	(void)unused;
	late(&c, 7000000000);
	feed_segment(&c, SOCK, 5000, 1000, 2000, 100);
	feed_recv(&c, TID, SOCK, 5000, 1000, 3000, 100);
	assert_bytes(&c, 1000, 0);
	assert_int_equal(rx_of(&c, SOCK)->done, 7000001000);
	assert_true(measures_in(rx_of(&c, SOCK))->residence.sum == 1400 * 1000);
	feed_end(&c);
}

/*
 * Bytes in the socket when it was met were never seen below: they are neither complete nor missing.
 */
static void bytes_from_before_the_recording_do_not_count(void **unused)
{
	struct core c;

	(void)unused;
	late(&c, 600);
	feed_segment(&c, SOCK, 5000, 1000, 2000, 100);
	feed_recv(&c, TID, SOCK, 4500, 1500, 3000, 100); /* 500 old ones, 1,000 new ones */
	assert_bytes(&c, 1000, 0);
	feed_end(&c);
}

/* One lost read must not make all later bytes be kept for ever. */
static void a_lost_read_does_not_hold_up_the_stream(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	feed_segment(&c, SOCK, 5000, 1000, 2000, 100); /* its reading is not recorded */
	for (uint32_t i = 1; i < 1000; i++) {
		uint64_t at = i * 500000;
		uint32_t seq = 5000 + i * 1000;

		ev_packet(&c, at, 0, MG_EVENT_dev_recv, SOCK, seq, 1000);
		ev_packet(&c, at + 100, 0, MG_EVENT_ip_in, SOCK, seq, 1000);
		ev_tcp(&c, at + 200, SOCK, seq, 1000);
		ev_ready_read(&c, at + 300, SOCK, seq + 1000, seq);
		feed_recv(&c, TID, SOCK, seq, 1000, at + 1000, 100);
	}
	assert_int_equal(rx_of(&c, SOCK)->complete, 999 * 1000);
	assert_true(rx_of(&c, SOCK)->layer[RX_DEV].len < 900);
	feed_end(&c);
}

/* With --pid: 1,000 bytes lie in the queue at the start, and are read with the first new ones. */
static void bytes_queued_before_the_recording_count_at_no_layer(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_sock_open, 50, 0);
	struct flow *rx;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	e.sock_open = (struct mg_sock_open){.sock = SOCK, .bytes_received = 1000, .rcv_nxt = 6000};
	feed(&c, &e);
	feed_segment(&c, SOCK, 6000, 500, 2000, 100);
	feed_recv(&c, TID, SOCK, 5000, 700, 3000, 100);
	feed_recv(&c, TID, SOCK, 5700, 800, 4000, 100);
	rx = rx_of(&c, SOCK);
	core_finish(&c);
	assert_int_equal(rx->total - rx->start, 500);
	assert_int_equal(measures_in(rx)->units[RX_COPY].bytes, 500);
	assert_int_equal(measures_in(rx)->units[RX_CALL].bytes, 500);
	assert_int_equal(measures_in(rx)->units[RX_CALL].n, 1);
	assert_int_equal(rx->use.calls, 1);
	assert_int_equal(rx->complete, 500);
	feed_end(&c);
}

/*
 * After a loss two calls seem to have read the same bytes, behind bytes whose reading is missing.
 */
static void bytes_that_two_calls_seem_to_have_read_count_once(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	ev_lost(&c, 1900, 5, 1800, 1900);
	feed_segment(&c, SOCK, 5000, 2000, 2000, 100);
	ev_enter(&c, 2900, TID + 1, SOCK, MG_SYS_recvfrom, 5000); /* it reads the first 1,000 */
	feed_recv(&c, TID, SOCK, 6000, 1000, 3000, 100);
	feed_recv(&c, TID + 2, SOCK, 6500, 500, 4000, 100);
	core_finish(&c);
	assert_int_equal(rx_of(&c, SOCK)->complete + rx_of(&c, SOCK)->incomplete, 2000);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_without_a_timestamp_are_left_out_and_counted),
		cmocka_unit_test(bytes_read_before_they_were_known_in_order_are_left_out),
		cmocka_unit_test(a_timestamp_before_its_predecessor_makes_no_range),
		cmocka_unit_test(within_the_clocks_bound_it_is_moved_and_all_still_closes),
		cmocka_unit_test(without_the_device_layer_the_way_begins_at_ip),
		cmocka_unit_test(without_device_and_ip_it_begins_at_tcp),
		cmocka_unit_test(without_ip_there_is_no_stage_for_it),
		cmocka_unit_test(a_late_socket_counts_from_its_offset),
		cmocka_unit_test(bytes_from_before_the_recording_do_not_count),
		cmocka_unit_test(bytes_queued_before_the_recording_count_at_no_layer),
		cmocka_unit_test(bytes_that_two_calls_seem_to_have_read_count_once),
		cmocka_unit_test(a_lost_read_does_not_hold_up_the_stream),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
