/* SPDX-License-Identifier: MIT */
/* Matching of datagrams: from the call that sent one to the call that received it, to the cycle. */
#include <netinet/in.h>

#include "feed_datagrams.h"
#include "report.h"

static void a_datagram_is_followed_to_its_reader(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin(&c);
	dg_sends(&c, 1000, 7, 1, 100);
	dg_arrives(&c, 1020, 7, 1, 100);
	dg_reads(&c, 1100, 100, MG_NOT_KNOWN);
	core_finish(&c);
	assert_int_equal(tx_of(&c, A)->complete, 100);
	assert_int_equal(stage_sum(tx_of(&c, A), TX_STAGE_CALL), 100 * 1);
	assert_int_equal(stage_sum(tx_of(&c, A), TX_STAGE_SNDBUF), 100 * 2);
	assert_int_equal(stage_sum(tx_of(&c, A), TX_STAGE_IP), 100 * 2);
	assert_int_equal(stage_sum(tx_of(&c, A), TX_STAGE_QDISC), 100 * 1);
	assert_int_equal(stage_sum(tx_of(&c, A), TX_STAGE_DRIVER), 100 * 1);
	assert_int_equal(rx_of(&c, B)->complete, 100);
	assert_int_equal(stage_sum(rx_of(&c, B), RX_STAGE_DEV_IP), 100 * 1);
	assert_int_equal(stage_sum(rx_of(&c, B), RX_STAGE_IP_TCP), 100 * 1);
	assert_int_equal(stage_sum(rx_of(&c, B), RX_STAGE_ABSENT), 100 * (1101 - 1022));
	assert_int_equal(stage_sum(rx_of(&c, B), RX_STAGE_COPY), 100 * 1);
	assert_int_equal(stage_sum(rx_of(&c, B), RX_STAGE_RETURN), 100 * 2);
	assert_int_equal(measures_in(rx_of(&c, B))->stage[RX_STAGE_ORDER].n, 0);
	assert_int_equal(dg_shifts(&c), 100 * (1104 - 1000));
	assert_int_equal((uint64_t)measures_in(rx_of(&c, B))->transit.sum, 100 * (1020 - 1006));
	assert_ptr_equal(rx_of(&c, B)->paired.partner, tx_of(&c, A));
	feed_end(&c);
}

/* The reader may return before the sender's call does. */
static void a_reader_may_be_faster_than_the_sender(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin(&c);
	dg_enter(&c, 1001, SEND, A, MG_SYS_sendto, MG_KIND_udp);
	dg_leaves(&c, 1003, 7, 1, 100);
	dg_arrives(&c, 1010, 7, 1, 100);
	dg_reads(&c, 1020, 100, MG_NOT_KNOWN);
	assert_int_equal(measures_in(rx_of(&c, B))->shift.n, 0);
	dg_moved(&c, MG_EVENT_sock_sent, 1030, SEND, A, 100, 0, MG_KIND_udp);
	ev_exit(&c, 1031, SEND, A, MG_SYS_sendto, 0, 100);
	ev_app(&c, SEND, MG_FN_send, 1000, 1032, 100);
	core_finish(&c);
	assert_int_equal(dg_shifts(&c), 100 * 24);
	feed_end(&c);
}

static void corked_bytes_wait_from_their_own_call_on(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin(&c);
	dg_enter(&c, 1001, SEND, A, MG_SYS_sendto, MG_KIND_udp);
	dg_moved(&c, MG_EVENT_sock_sent, 1002, SEND, A, 30, 0, MG_KIND_udp);
	ev_exit(&c, 1003, SEND, A, MG_SYS_sendto, 0, 30);
	ev_app(&c, SEND, MG_FN_send, 1000, 1004, 30);
	dg_enter(&c, 2001, SEND, A, MG_SYS_sendto, MG_KIND_udp);
	dg_leaves(&c, 2003, 7, 1, 100);
	dg_moved(&c, MG_EVENT_sock_sent, 2009, SEND, A, 70, 0, MG_KIND_udp);
	ev_exit(&c, 2010, SEND, A, MG_SYS_sendto, 0, 70);
	ev_app(&c, SEND, MG_FN_send, 2000, 2011, 70);
	dg_arrives(&c, 2020, 7, 1, 100);
	dg_reads(&c, 2100, 100, MG_NOT_KNOWN);
	core_finish(&c);
	assert_int_equal(tx_of(&c, A)->complete, 100);
	assert_int_equal(stage_sum(tx_of(&c, A), TX_STAGE_SNDBUF), 30 * (2003 - 1001) + 70 * 2);
	assert_int_equal(dg_shifts(&c), 30 * (2104 - 1000) + 70 * (2104 - 2000));
	assert_int_equal(measures_in(rx_of(&c, B))->from->n, 2);
	feed_end(&c);
}

static void fragments_have_times_of_their_own(void **unused)
{
	struct piece_of first = {.id = 1, .part = 1}, second = {.id = 1, .part = 2, .frag = 126};
	struct core c;

	(void)unused;
	dg_begin(&c);
	dg_enter(&c, 1001, SEND, A, MG_SYS_sendto, MG_KIND_udp);
	dg_packet(&c, MG_EVENT_ip_out, 1003, 7, 1500, &(struct piece_of){.id = 1});
	dg_packet(&c, MG_EVENT_ip_post, 1004, 7, 1500, &(struct piece_of){.id = 1});
	dg_packet(&c, MG_EVENT_dev_queue, 1005, 7, 1000, &first);
	dg_packet(&c, MG_EVENT_dev_queue, 1006, 8, 500, &second);
	dg_moved(&c, MG_EVENT_sock_sent, 1007, SEND, A, 1500, 0, MG_KIND_udp);
	ev_exit(&c, 1008, SEND, A, MG_SYS_sendto, 0, 1500);
	ev_app(&c, SEND, MG_FN_send, 1000, 1009, 1500);
	dg_packet(&c, MG_EVENT_dev_xmit, 1015, 7, 1000, &first);
	dg_done(&c, 1016, 7, 1000);
	dg_packet(&c, MG_EVENT_dev_recv, 1020, 7, 1000, &first);
	dg_packet(&c, MG_EVENT_dev_xmit, 1036, 8, 500, &second);
	dg_done(&c, 1037, 8, 500);
	dg_packet(&c, MG_EVENT_dev_recv, 1040, 8, 500, &second);
	dg_packet(&c, MG_EVENT_ip_in, 1041, 7, 1500, &(struct piece_of){.id = 1});
	dg_ready(&c, 1042, SEND, B, 7, 1500, MG_KIND_udp);
	dg_reads(&c, 1100, 1500, MG_NOT_KNOWN);
	core_finish(&c);
	assert_int_equal(tx_of(&c, A)->complete, 1500);
	assert_int_equal(stage_sum(tx_of(&c, A), TX_STAGE_QDISC), 1000 * 10 + 500 * 30);
	assert_int_equal(rx_of(&c, B)->complete, 1500);
	/* the first fragment waits for the rest of the datagram */
	assert_int_equal(stage_sum(rx_of(&c, B), RX_STAGE_DEV_IP), 1000 * 21 + 500 * 1);
	assert_int_equal(dg_shifts(&c), 1500 * 104);
	feed_end(&c);
}

/* One call, one buffer for all, cut before the driver; the reader gets single datagrams. */
static void segments_are_known_by_their_numbers(void **unused)
{
	struct piece_of all = {.id = 5, .segs = 2, .gso = 100};
	struct core c;

	(void)unused;
	dg_begin(&c);
	dg_enter(&c, 1001, SEND, A, MG_SYS_sendto, MG_KIND_udp);
	dg_packet(&c, MG_EVENT_ip_out, 1003, 7, 160, &all);
	dg_packet(&c, MG_EVENT_ip_post, 1004, 7, 160, &all);
	dg_packet(&c, MG_EVENT_dev_queue, 1005, 7, 160, &all);
	dg_moved(&c, MG_EVENT_sock_sent, 1007, SEND, A, 160, 0, MG_KIND_udp);
	ev_exit(&c, 1008, SEND, A, MG_SYS_sendto, 0, 160);
	ev_app(&c, SEND, MG_FN_send, 1000, 1009, 160);
	dg_packet(&c, MG_EVENT_dev_xmit, 1010, 8, 100, &(struct piece_of){.id = 5});
	dg_done(&c, 1011, 8, 100);
	dg_packet(&c, MG_EVENT_dev_xmit, 1020, 9, 60, &(struct piece_of){.id = 6});
	dg_done(&c, 1021, 9, 60);
	dg_arrives(&c, 1030, 8, 5, 100);
	dg_arrives(&c, 1040, 9, 6, 60);
	dg_reads(&c, 1100, 100, 9);
	dg_reads(&c, 1200, 60, MG_NOT_KNOWN);
	core_finish(&c);
	assert_int_equal(tx_of(&c, A)->complete, 160);
	assert_int_equal(stage_sum(tx_of(&c, A), TX_STAGE_QDISC), 100 * 5 + 60 * 15);
	assert_int_equal(dg_shifts(&c), 100 * 104 + 60 * 204);
	feed_end(&c);
}

/* Where they arrive as one, the socket's queue takes them one by one. */
static void merged_datagrams_are_read_one_by_one(void **unused)
{
	struct piece_of all = {.id = 5, .segs = 2, .gso = 100};
	struct core c;

	(void)unused;
	dg_begin(&c);
	dg_packet(&c, MG_EVENT_dev_recv, 1000, 7, 160, &all);
	dg_packet(&c, MG_EVENT_ip_in, 1001, 7, 160, &all);
	dg_ready(&c, 1002, SEND, B, 8, 100, MG_KIND_udp);
	dg_ready(&c, 1005, SEND, B, 9, 60, MG_KIND_udp);
	dg_reads(&c, 1100, 100, 9);
	dg_reads(&c, 1200, 60, MG_NOT_KNOWN);
	core_finish(&c);
	assert_int_equal(rx_of(&c, B)->complete, 160);
	assert_int_equal(stage_sum(rx_of(&c, B), RX_STAGE_IP_TCP), 100 * 1 + 60 * 4);
	assert_int_equal(rx_of(&c, B)->missing.messages, 0);
	feed_end(&c);
}

static void several_messages_of_a_call_follow_each_other(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin(&c);
	dg_enter(&c, 1001, SEND, A, MG_SYS_sendmmsg, MG_KIND_udp);
	dg_leaves(&c, 1003, 7, 1, 100);
	dg_moved(&c, MG_EVENT_sock_sent, 1010, SEND, A, 100, 0, MG_KIND_udp);
	dg_leaves(&c, 1013, 8, 2, 100);
	dg_moved(&c, MG_EVENT_sock_sent, 1020, SEND, A, 100, 0, MG_KIND_udp);
	ev_exit(&c, 1021, SEND, A, MG_SYS_sendmmsg, 0, 2);
	ev_app(&c, SEND, MG_FN_sendmmsg, 1000, 1022, 2);
	core_finish(&c);
	assert_int_equal(tx_of(&c, A)->complete, 200);
	/* the second begins as the first is done */
	assert_int_equal(stage_sum(tx_of(&c, A), TX_STAGE_CALL), 100 * 1 + 100 * 10);
	assert_int_equal(stage_sum(tx_of(&c, A), TX_STAGE_SNDBUF), 100 * 2 + 100 * 3);
	feed_end(&c);
}

/* One of three is dropped without an event: the next one in the queue reveals it. */
static void a_drop_without_an_event_shifts_nothing(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin(&c);
	for (uint16_t i = 1; i <= 3; i++) {
		dg_sends(&c, 1000 * i, 6 + i, i, 100);
		dg_arrives(&c, 1000 * i + 20, 6 + i, i, 100);
	}
	dg_reads(&c, 4000, 100, 9); /* the first; the third comes next */
	dg_reads(&c, 5000, 100, MG_NOT_KNOWN);
	core_finish(&c);
	/* 7 and 8 are there as far as was seen: the one before the next was read */
	assert_int_equal(measures_in(rx_of(&c, B))->shift.n, 2);
	assert_near(dist_quantile(&measures_in(rx_of(&c, B))->shift, 0.5), 5004 - 3000, 0);
	feed_end(&c);
}

static void a_recorded_drop_is_no_gap(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_drop, 2030, SEND);
	struct core c;

	(void)unused;
	dg_begin(&c);
	dg_sends(&c, 1000, 7, 1, 100);
	dg_arrives(&c, 1020, 7, 1, 100);
	dg_sends(&c, 2000, 8, 2, 100);
	dg_packet(&c, MG_EVENT_dev_recv, 2020, 8, 100, &(struct piece_of){.id = 2});
	dg_packet(&c, MG_EVENT_ip_in, 2021, 8, 100, &(struct piece_of){.id = 2});
	e.drop = (struct mg_drop){
		.sock = B, .seq = 8, .len = 100, .segs = 1, .proto = IPPROTO_UDP, .rx = 1};
	feed(&c, &e);
	dg_reads(&c, 3000, 100, MG_NOT_KNOWN);
	core_finish(&c);
	assert_int_equal(rx_of(&c, B)->complete, 100);
	assert_int_equal(rx_of(&c, B)->incomplete, 0);
	assert_int_equal(dg_shifts(&c), 100 * 2004);
	feed_end(&c);
}

/* Datagrams dropped by a queue were sent, and have no later timestamps to miss. */
static void datagrams_that_never_left_are_not_incomplete(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_drop, 1006, SEND);
	struct core c;

	(void)unused;
	dg_begin(&c);
	dg_enter(&c, 1001, SEND, A, MG_SYS_sendto, MG_KIND_udp);
	dg_packet(&c, MG_EVENT_ip_out, 1003, 7, 100, &(struct piece_of){.id = 1});
	dg_packet(&c, MG_EVENT_ip_post, 1004, 7, 100, &(struct piece_of){.id = 1});
	dg_packet(&c, MG_EVENT_dev_queue, 1005, 7, 100, &(struct piece_of){.id = 1});
	e.drop = (struct mg_drop){.sock = A, .seq = 7, .len = 100, .segs = 1, .proto = IPPROTO_UDP};
	feed(&c, &e);
	dg_moved(&c, MG_EVENT_sock_sent, 1009, SEND, A, 100, 0, MG_KIND_udp);
	ev_exit(&c, 1010, SEND, A, MG_SYS_sendto, 0, 100);
	ev_app(&c, SEND, MG_FN_send, 1000, 1011, 100);
	dg_sends(&c, 2000, 8, 2, 50);
	core_finish(&c);
	assert_int_equal(tx_of(&c, A)->drops.bytes, 100);
	assert_int_equal(tx_of(&c, A)->complete, 50);
	assert_int_equal(tx_of(&c, A)->incomplete, 0);
	feed_end(&c);
}

static void with_two_readers_the_reader_is_not_known(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin(&c);
	dg_enter(&c, 900, OTHER, B, MG_SYS_recvfrom, MG_KIND_udp);
	dg_sends(&c, 1000, 7, 1, 100);
	dg_arrives(&c, 1020, 7, 1, 100);
	dg_sends(&c, 2000, 8, 2, 100);
	dg_arrives(&c, 2020, 8, 2, 100);
	dg_reads(&c, 3000, 100, 8);
	dg_moved(&c, MG_EVENT_sock_received, 3100, OTHER, B, 100, MG_NOT_KNOWN, MG_KIND_udp);
	ev_exit(&c, 3101, OTHER, B, MG_SYS_recvfrom, 0, 100);
	ev_app(&c, OTHER, MG_FN_recv, 899, 3102, 100);
	core_finish(&c);
	assert_int_equal(rx_of(&c, B)->missing.messages, 2);
	assert_int_equal(measures_in(rx_of(&c, B))->shift.n, 0);
	assert_int_equal(rx_of(&c, B)->incomplete, 200);
	feed_end(&c);
}

/* A buffer's address is soon reused. */
static void an_older_frame_in_the_same_buffer_is_another(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin(&c);
	dg_sends(&c, 1000, 7, 1, 100); /* goes elsewhere */
	dg_sends(&c, 2000, 7, 2, 100);
	dg_arrives(&c, 2020, 7, 2, 100);
	dg_arrives(&c, 2030, 7, 3, 100); /* belongs to no socket */
	dg_reads(&c, 3000, 100, 7);
	core_finish(&c);
	assert_in_range(measures_in(rx_of(&c, B))->shift.n, 0, 1);
	if (measures_in(rx_of(&c, B))->shift.n)
		assert_int_equal(dg_shifts(&c), 100 * 1004);
	feed_end(&c);
}

/* Copies on their way from the device to IP. */
static void copied_ones_are_known_if_there_is_one_that_it_may_be(void **unused)
{
	static const struct {
		uint16_t id, other;
		uint32_t len, complete;
	} cases[] = {{2, 3, 100, 100}, {2, 2, 90, 100}, {2, 2, 100, 0}};
	struct core c;

	(void)unused;
	for (size_t i = 0; i < COUNT(cases); i++) {
		dg_begin(&c);
		/* another one is still on its way */
		dg_packet(&c, MG_EVENT_dev_recv, 1010, 6, cases[i].len,
			&(struct piece_of){.id = cases[i].other});
		dg_packet(&c, MG_EVENT_dev_recv, 1020, 7, 100, &(struct piece_of){.id = 2});
		dg_packet(&c, MG_EVENT_ip_in, 1023, 8, 100, &(struct piece_of){.id = 2});
		dg_ready(&c, 1024, SEND, B, 8, 100, MG_KIND_udp);
		dg_reads(&c, 3000, 100, MG_NOT_KNOWN);
		core_finish(&c);
		assert_int_equal(rx_of(&c, B)->complete, cases[i].complete);
		assert_int_equal(stage_sum(rx_of(&c, B), RX_STAGE_DEV_IP), cases[i].complete * 3);
		feed_end(&c);
	}
}

/* Among sockets at one port the queue that holds the datagram identifies its owner. */
static void datagram_belongs_to_the_socket_that_queues_it(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_dev_recv, 1020, SEND);
	struct core c;

	(void)unused;
	dg_begin(&c);
	dg_sends(&c, 1000, 7, 1, 100);
	e.packet = (struct mg_packet){.seq = 7, .len = 100, .segs = 1, .ip_id = 1, .proto = UDP};
	feed(&c, &e);
	e.id = MG_EVENT_ip_in;
	e.time_ns = 1021;
	feed(&c, &e);
	dg_ready(&c, 1022, SEND, B, 7, 100, MG_KIND_udp);
	dg_reads(&c, 1100, 100, MG_NOT_KNOWN);
	core_finish(&c);
	assert_int_equal(rx_of(&c, B)->complete, 100);
	assert_int_equal(stage_sum(rx_of(&c, B), RX_STAGE_DEV_IP), 100 * 1);
	assert_int_equal(dg_shifts(&c), 100 * 104);
	feed_end(&c);
}

static void memory_of_an_unread_queue_is_bounded(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin(&c);
	for (uint32_t i = 0; i < ARRIVALS_MAX + 1000; i++)
		dg_arrives(&c, 1000 + 3 * i, 100 + i, (uint16_t)i, 10);
	assert_int_equal(rx_of(&c, B)->sock->queues->n, ARRIVALS_MAX);
	feed_end(&c);
}

static void memory_of_unread_data_is_bounded(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin(&c);
	for (uint32_t i = 0; i < FRAMES_MAX + 1000; i++)
		dg_sends(&c, 1000 + 12 * i, 100 + i, (uint16_t)i, 10);
	assert_int_equal(c.frames->n, FRAMES_MAX);
	assert_int_equal(tx_of(&c, A)->complete, 10 * (FRAMES_MAX + 1000));
	feed_end(&c);
}

/* The network duplicated each: no more is delivered than was sent. */
static void duplicates_are_delivered_once(void **unused)
{
	struct core c;
	struct report r;

	(void)unused;
	dg_begin(&c);
	for (uint32_t i = 0; i < 10; i++) {
		uint64_t t = 1000 + i * 1000;

		dg_sends(&c, t, 7 + i, (uint16_t)(1 + i), 100);
		dg_arrives(&c, t + 20, 7 + i, (uint16_t)(1 + i), 100);
		dg_reads(&c, t + 100, 100, MG_NOT_KNOWN);
		dg_arrives(&c, t + 200, 100 + i, (uint16_t)(1 + i), 100);
		dg_reads(&c, t + 300, 100, MG_NOT_KNOWN);
	}
	core_finish(&c);
	assert_int_equal(rx_of(&c, B)->total, 2000);
	assert_int_equal(report_init(&r, &c, NULL, "a trace"), 0);
	assert_near(flow_goodput(&r, fact_of(&c, tx_of(&c, A))).ratio, 1000.0 / 1420, 1e-12);
	assert_near(flow_goodput(&r, fact_of(&c, rx_of(&c, B))).ratio, 1000.0 / 1420, 1e-12);
	report_free(&r);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_datagram_is_followed_to_its_reader),
		cmocka_unit_test(duplicates_are_delivered_once),
		cmocka_unit_test(a_reader_may_be_faster_than_the_sender),
		cmocka_unit_test(corked_bytes_wait_from_their_own_call_on),
		cmocka_unit_test(fragments_have_times_of_their_own),
		cmocka_unit_test(segments_are_known_by_their_numbers),
		cmocka_unit_test(merged_datagrams_are_read_one_by_one),
		cmocka_unit_test(several_messages_of_a_call_follow_each_other),
		cmocka_unit_test(a_drop_without_an_event_shifts_nothing),
		cmocka_unit_test(a_recorded_drop_is_no_gap),
		cmocka_unit_test(datagrams_that_never_left_are_not_incomplete),
		cmocka_unit_test(with_two_readers_the_reader_is_not_known),
		cmocka_unit_test(an_older_frame_in_the_same_buffer_is_another),
		cmocka_unit_test(copied_ones_are_known_if_there_is_one_that_it_may_be),
		cmocka_unit_test(datagram_belongs_to_the_socket_that_queues_it),
		cmocka_unit_test(memory_of_an_unread_queue_is_bounded),
		cmocka_unit_test(memory_of_unread_data_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
