/* SPDX-License-Identifier: MIT */
/* Datagrams cut before they leave: their parts wait in a queue, or are dropped. */
#include "feed_datagrams.h"

/*
 * Hands a datagram that stands for `segs` to the queue, where it is cut: its buffer is free again.
 */
static void queue_one(struct core *c, uint64_t t, uint32_t buffer, uint16_t id, uint16_t segs)
{
	struct piece_of all = {.id = id, .segs = segs, .gso = 100};
	uint32_t len = segs * 100u;

	dg_enter(c, t + 1, SEND, A, MG_SYS_sendto, MG_KIND_udp);
	dg_packet(c, MG_EVENT_ip_out, t + 3, buffer, len, &all);
	dg_packet(c, MG_EVENT_ip_post, t + 4, buffer, len, &all);
	dg_packet(c, MG_EVENT_dev_queue, t + 5, buffer, len, &all);
	dg_moved(c, MG_EVENT_sock_sent, t + 7, SEND, A, (int32_t)len, 0, MG_KIND_udp);
	ev_exit(c, t + 8, SEND, A, MG_SYS_sendto, 0, len);
	ev_app(c, SEND, MG_FN_send, t, t + 9, len);
}

static void leave(struct core *c, uint64_t t, uint32_t buffer, uint16_t id)
{
	dg_packet(c, MG_EVENT_dev_xmit, t, buffer, 100, &(struct piece_of){.id = id});
	dg_done(c, t + 1, buffer, 100);
}

/*
 * A connected socket's ids advance by one per datagram, not per segment; and buffers are soon
 * reused, also for another segment.
 */
static void segments_that_wait_leave_in_order(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin(&c);
	queue_one(&c, 1000, 7, 5, 3);
	queue_one(&c, 1010, 7, 6, 3);
	queue_one(&c, 1020, 7, 7, 3);
	for (uint16_t i = 0; i < 3; i++)
		for (uint16_t k = 0; k < 3; k++)
			leave(&c, 1100 + 30u * i + 10u * k, 20 + k, (uint16_t)(5 + i + k));
	core_finish(&c);
	assert_int_equal(tx_of(&c, A)->complete, 900);
	assert_int_equal(stage_sum(tx_of(&c, A), TX_STAGE_QDISC),
		100 * (3 * (95 + 85 + 75) + 3 * (0 + 30 + 60) + 3 * (0 + 10 + 20)));
	feed_end(&c);
}

static void drop(struct core *c, uint64_t t, uint32_t buffer, uint32_t len)
{
	struct mg_event e = feed_event(MG_EVENT_drop, t, SEND);

	e.drop = (struct mg_drop){.sock = A, .seq = buffer, .len = len, .segs = 1, .proto = UDP};
	feed(c, &e);
}

/* The queue has room for the first of three fragments: the second goes, and the last with it. */
static void fragments_that_never_left_are_dropped(void **unused)
{
	struct piece_of first = {.id = 1, .part = 1}, second = {.id = 1, .part = 2, .frag = 126};
	struct core c;

	(void)unused;
	dg_begin(&c);
	dg_enter(&c, 1001, SEND, A, MG_SYS_sendto, MG_KIND_udp);
	dg_packet(&c, MG_EVENT_ip_out, 1003, 7, 2500, &(struct piece_of){.id = 1});
	dg_packet(&c, MG_EVENT_ip_post, 1004, 7, 2500, &(struct piece_of){.id = 1});
	dg_packet(&c, MG_EVENT_dev_queue, 1005, 7, 1000, &first);
	dg_packet(&c, MG_EVENT_dev_xmit, 1006, 7, 1000, &first);
	dg_done(&c, 1007, 7, 1000);
	dg_packet(&c, MG_EVENT_dev_queue, 1008, 8, 1000, &second);
	drop(&c, 1009, 8, 1000);
	drop(&c, 1010, 9, 500);
	drop(&c, 1011, 9, 500); /* of another packet */
	dg_moved(&c, MG_EVENT_sock_sent, 1012, SEND, A, 2500, 0, MG_KIND_udp);
	ev_exit(&c, 1013, SEND, A, MG_SYS_sendto, 0, 2500);
	ev_app(&c, SEND, MG_FN_send, 1000, 1014, 2500);
	core_finish(&c);
	assert_int_equal(tx_of(&c, A)->drops.bytes, 1500);
	assert_int_equal(tx_of(&c, A)->complete, 1000);
	assert_int_equal(tx_of(&c, A)->incomplete, 0);
	feed_end(&c);
}

/* A reader on another CPU empties the queue meanwhile, so the buffer in it is not known. */
static void a_segment_may_come_without_its_buffer(void **unused)
{
	struct piece_of all = {.id = 5, .segs = 3, .gso = 100};
	struct core c;

	(void)unused;
	dg_begin(&c);
	dg_packet(&c, MG_EVENT_dev_recv, 1000, 7, 300, &all);
	dg_packet(&c, MG_EVENT_ip_in, 1001, 7, 300, &all);
	dg_ready(&c, 1002, SEND, B, 8, 100, MG_KIND_udp);
	dg_ready(&c, 1003, SEND, B, 0, 0, MG_KIND_udp);
	dg_ready(&c, 1004, SEND, B, 9, 100, MG_KIND_udp);
	dg_reads(&c, 1100, 100, 10);
	dg_reads(&c, 1110, 100, 9);
	dg_reads(&c, 1120, 100, MG_NOT_KNOWN);
	core_finish(&c);
	assert_int_equal(rx_of(&c, B)->missing.messages, 0);
	assert_int_equal(rx_of(&c, B)->complete, 300);
	feed_end(&c);
}

/* The network duplicates a datagram; both copies share one buffer. */
static void both_copies_may_lie_in_one_buffer(void **unused)
{
	struct core c;

	(void)unused;
	dg_begin(&c);
	dg_sends(&c, 1000, 7, 1, 100);
	dg_arrives(&c, 1020, 7, 1, 100);
	dg_arrives(&c, 1030, 7, 1, 100);
	dg_reads(&c, 1100, 100, 7);
	dg_reads(&c, 1200, 100, MG_NOT_KNOWN);
	core_finish(&c);
	assert_int_equal(rx_of(&c, B)->missing.messages, 0);
	assert_int_equal(rx_of(&c, B)->complete, 200);
	assert_int_equal(dg_shifts(&c), 100 * 104);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segments_that_wait_leave_in_order),
		cmocka_unit_test(fragments_that_never_left_are_dropped),
		cmocka_unit_test(a_segment_may_come_without_its_buffer),
		cmocka_unit_test(both_copies_may_lie_in_one_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
