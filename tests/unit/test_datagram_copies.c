/* SPDX-License-Identifier: MIT */
/* Copies of a datagram, and buffers reused by another: neither is mistaken for the original. */
#include <netinet/in.h>

#include "feed_datagrams.h"

static void drop(struct core *c, uint64_t t, uint32_t buffer, uint32_t len)
{
	struct mg_event e = feed_event(MG_EVENT_drop, t, SEND);

	e.drop = (struct mg_drop){.sock = A, .seq = buffer, .len = len, .segs = 1, .proto = UDP};
	feed(c, &e);
}

/* A host receives its own broadcasts, and drops the unwanted ones, before the rest leaves. */
static void a_copy_that_is_dropped_is_not_the_datagram(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin(&c);
	dg_enter(&c, 1001, SEND, A, MG_SYS_sendto, MG_KIND_udp);
	dg_packet(&c, MG_EVENT_ip_out, 1003, 7, 100, &(struct piece_of){.id = 1});
	drop(&c, 1004, 7, 100);
	assert_int_equal(tx_of(&c, A)->drops.bytes, 100);
	dg_packet(&c, MG_EVENT_ip_post, 1005, 7, 100, &(struct piece_of){.id = 1});
	dg_packet(&c, MG_EVENT_dev_queue, 1006, 7, 100, &(struct piece_of){.id = 1});
	dg_packet(&c, MG_EVENT_dev_xmit, 1007, 7, 100, &(struct piece_of){.id = 1});
	dg_done(&c, 1008, 7, 100);
	dg_moved(&c, MG_EVENT_sock_sent, 1009, SEND, A, 100, 0, MG_KIND_udp);
	ev_exit(&c, 1010, SEND, A, MG_SYS_sendto, 0, 100);
	ev_app(&c, SEND, MG_FN_send, 1000, 1011, 100);
	core_finish(&c);
	assert_int_equal(tx_of(&c, A)->drops.bytes, 0);
	assert_int_equal(tx_of(&c, A)->complete, 100);
	assert_int_equal(stage_sum(tx_of(&c, A), TX_STAGE_IP), 100 * 3);
	feed_end(&c);
}

/*
 * The question went to a process that is not followed; the answer has the same length and buffer.
 */
static void an_answer_is_not_the_question(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_sock_new, 6, READ);
	struct core c;

	(void)unused;
	dg_begin(&c);
	e.sock_new = (struct mg_sock_new){
		.sock = B, .netns = 1, .lport = 40000, .rport = 53, .kind = MG_KIND_udp};
	feed(&c, &e);
	e.sock_new.sock = A;
	e.sock_new.lport = 40001;
	feed(&c, &e);
	dg_sends(&c, 1000, 7, 0, 100);
	dg_arrives(&c, 1020, 7, 0, 100);
	dg_reads(&c, 1100, 100, MG_NOT_KNOWN);
	core_finish(&c);
	assert_int_equal(rx_of(&c, B)->complete, 100);
	assert_null(rx_of(&c, B)->paired.partner);
	assert_int_equal(measures_in(rx_of(&c, B))->shift.n, 0);
	feed_end(&c);
}

static void icmp(struct core *c, uint16_t event, uint64_t t, uint64_t sock, uint8_t type)
{
	struct mg_event e = feed_event(event, t, SEND);

	e.packet = (struct mg_packet){.sock = sock,
		.seq = 7,
		.icmp_type = type,
		.len = 92,
		.headers = 48,
		.segs = 1,
		.proto = IPPROTO_ICMPV6};
	feed(c, &e);
}

/* Datagrams that a filter rejects never reach the queue; only queued ones are read. */
static void datagrams_a_filter_rejects_are_not_read(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS ",sock_sent,sock_received,drop_raw");
	dg_known(&c, MG_KIND_raw);
	icmp(&c, MG_EVENT_dev_recv, 1020, B, 128);
	icmp(&c, MG_EVENT_ip_in, 1021, B, 128);
	icmp(&c, MG_EVENT_dev_recv, 1030, B, 129);
	icmp(&c, MG_EVENT_ip_in, 1033, B, 129);
	dg_ready(&c, 1035, SEND, B, 7, 100, MG_KIND_raw);
	dg_enter(&c, 1101, READ, B, MG_SYS_recvmsg, MG_KIND_raw);
	{
		struct mg_event e = feed_event(MG_EVENT_sock_copy, 1102, READ);

		e.sock_copy = (struct mg_sock_copy){.sock = B, .seq = 7, .len = 100};
		feed(&c, &e);
	}
	dg_moved(&c, MG_EVENT_sock_received, 1103, READ, B, 100, MG_NOT_KNOWN, MG_KIND_raw);
	ev_exit(&c, 1104, READ, B, MG_SYS_recvmsg, 0, 100);
	ev_app(&c, READ, MG_FN_recvmsg, 1100, 1105, 100);
	core_finish(&c);
	assert_int_equal(rx_of(&c, B)->complete, 100);
	assert_int_equal(stage_sum(rx_of(&c, B), RX_STAGE_DEV_IP), 100 * 3);
	feed_end(&c);
}

/* The copy found by its addresses is counted at the device too. */
static void each_raw_socket_gets_a_copy(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS ",sock_sent,sock_received,drop_raw");
	dg_known(&c, MG_KIND_raw);
	icmp(&c, MG_EVENT_dev_recv, 1020, A, 129);
	icmp(&c, MG_EVENT_ip_in, 1021, A, 129);
	dg_ready(&c, 1022, SEND, A, 7, 100, MG_KIND_raw);
	dg_ready(&c, 1024, SEND, B, 7, 100, MG_KIND_raw);
	dg_enter(&c, 1101, READ, B, MG_SYS_recvfrom, MG_KIND_raw);
	dg_moved(&c, MG_EVENT_sock_received, 1102, READ, B, 100, MG_NOT_KNOWN, MG_KIND_raw);
	ev_exit(&c, 1103, READ, B, MG_SYS_recvfrom, 0, 100);
	ev_app(&c, READ, MG_FN_recv, 1100, 1104, 100);
	core_finish(&c);
	assert_int_equal(rx_of(&c, B)->missing.messages, 0);
	assert_int_equal(rx_of(&c, B)->complete, 100);
	assert_int_equal(stage_sum(rx_of(&c, B), RX_STAGE_IP_TCP), 100 * 3);
	feed_end(&c);
}

/* An empty datagram is a message; an empty read of a stream is its end. */
static void the_end_of_a_stream_is_no_unit(void **unused)
{
	static const int kinds[] = {MG_KIND_unix_stream, MG_KIND_unix_dgram};
	struct core c;

	(void)unused;
	for (int i = 0; i < 2; i++) {
		dg_begin_unix(&c, kinds[i]);
		dg_enter(&c, 1001, READ, B, MG_SYS_recvfrom, kinds[i]);
		dg_moved(&c, MG_EVENT_sock_received, 1002, READ, B, 0, 0, kinds[i]);
		ev_exit(&c, 1003, READ, B, MG_SYS_recvfrom, 0, 0);
		ev_app(&c, READ, MG_FN_recv, 1000, 1004, 0);
		core_finish(&c);
		assert_int_equal(measures_in(rx_of(&c, B))->units[RX_CALL].n, i);
		assert_int_equal(measures_in(rx_of(&c, B))->units[RX_COPY].n, i);
		assert_int_equal(rx_of(&c, B)->use.calls, i);
		feed_end(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_copy_that_is_dropped_is_not_the_datagram),
		cmocka_unit_test(an_answer_is_not_the_question),
		cmocka_unit_test(datagrams_a_filter_rejects_are_not_read),
		cmocka_unit_test(each_raw_socket_gets_a_copy),
		cmocka_unit_test(the_end_of_a_stream_is_no_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
