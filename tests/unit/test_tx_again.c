/* SPDX-License-Identifier: MIT */
/* Sent bytes that pass a layer again, are refused, or come with damaged headers. */
#include <errno.h>

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

/*
 * The first try is lost in the queue, the second one arrives: N and Q would be the first's, X and Y
 * the second's, so there are no stages.
 */
static void the_times_of_two_copies_make_no_stages(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, TX_HOOKS);
	call_only(&c, 1000, 500, 1000);
	ev_packet(&c, 2000, 0, MG_EVENT_ip_out, SOCK, 1000, 500);
	ev_packet(&c, 2100, 0, MG_EVENT_ip_post, SOCK, 1000, 500);
	ev_packet(&c, 2200, 0, MG_EVENT_dev_queue, SOCK, 1000, 500);
	ev_packet(&c, 9100, 0, MG_EVENT_ip_out, SOCK, 1000, 500);
	ev_packet(&c, 9200, 0, MG_EVENT_ip_post, SOCK, 1000, 500);
	ev_packet(&c, 9300, 0, MG_EVENT_dev_queue, SOCK, 1000, 500);
	ev_packet(&c, 9400, 0, MG_EVENT_dev_xmit, SOCK, 1000, 500);
	ev_done(&c, 9500, 0, SOCK, 1000, 500);
	ev_retransmit(&c, 9600, SOCK, 1000, 500);
	f = tx_of(&c, SOCK);
	assert_bytes(&c, 500, 0);
	assert_int_equal(f->retried.segments, 1);
	assert_int_equal(measures_in(f)->residence.n, 0);
	assert_int_equal(f->copies.ambiguous, 500);
	assert_int_equal(f->copies.retransmitted, 500);
	assert_int_equal(f->copies.resent + f->copies.pending, 0);
	assert_true(measures_in(f)->shift.sum ==
		    8400 * 500); /* when they first left is known: X 9400 */
	assert_int_equal(measures_in(f)->units[TX_IP_OUT].n, 1);
	assert_int_equal(measures_in(f)->units[TX_IP_OUT].again, 500);
	assert_int_equal(measures_in(f)->units[TX_XMIT].again, 0);
	feed_end(&c);
}

static void a_refused_retransmission_does_not_count(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_tcp_retransmit, 9000, 0);
	struct core c;

	(void)unused;
	open_core(&c, TX_HOOKS);
	call_only(&c, 1000, 500, 1000);
	e.tcp_retransmit = (struct mg_tcp_retransmit){
		.sock = SOCK, .seq = 1000, .len = 500, .segs = 1, .err = -EBUSY};
	feed(&c, &e);
	assert_int_equal(tx_of(&c, SOCK)->retried.segments, 0);
	e.tcp_retransmit.err = 0;
	e.tcp_retransmit.segs = 3;
	feed(&c, &e);
	assert_int_equal(tx_of(&c, SOCK)->retried.segments, 3);
	feed_end(&c);
}

static void bytes_that_pass_again_when_all_is_known_change_nothing(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	feed_send(&c, TID, SOCK, 1000, 500, 1000, 100);
	ev_retransmit(&c, 9000, SOCK, 1000, 500);
	ev_packet(&c, 9100, 0, MG_EVENT_ip_out, SOCK, 1000, 500);
	ev_packet(&c, 9200, 0, MG_EVENT_dev_xmit, SOCK, 1000, 500);
	ev_done(&c, 9300, 0, SOCK, 1000, 500);
	f = tx_of(&c, SOCK);
	assert_bytes(&c, 500, 0);
	assert_true(measures_in(f)->residence.sum == 700 * 500);
	assert_int_equal(measures_in(f)->units[TX_XMIT].again, 500);
	assert_int_equal(measures_in(f)->units[TX_XMIT].n, 1);
	assert_int_equal(
		measures_in(f)->units[TX_XMIT].wire_bytes, 2 * 554); /* the wire carried both */
	feed_end(&c);
}

/* A segment may be retransmitted together with bytes that had not been sent before. */
static void a_segment_that_is_partly_new_counts_as_both(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send,dev_xmit");
	call_only(&c, 1000, 800, 1000);
	ev_packet(&c, 2000, 0, MG_EVENT_dev_xmit, SOCK, 1000, 500);
	ev_packet(&c, 3000, 0, MG_EVENT_dev_xmit, SOCK, 1200, 600);
	core_finish(&c);
	f = tx_of(&c, SOCK);
	assert_bytes(&c, 800, 0);
	assert_int_equal(measures_in(f)->units[TX_XMIT].again, 300);
	assert_int_equal(stage_sum(f, TX_STAGE_SNDBUF), 800 * 500 + 1800 * 300);
	feed_end(&c);
}

static void the_acknowledgement_of_a_fin_is_no_byte(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	feed_send(&c, TID, SOCK, 1000, 500, 1000, 100);
	ev_packet(&c, 3000, 0, MG_EVENT_dev_xmit, SOCK, 1500, 0);
	ev_ack(&c, 4000, SOCK, 1501);
	core_finish(&c);
	assert_bytes(&c, 500, 0);
	assert_int_equal(tx_of(&c, SOCK)->total, 500);
	feed_end(&c);
}

static void refused_transmission_is_not_done(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_dev_done, 2100, 0);
	struct core c;

	(void)unused;
	open_core(&c, "tcp_send,dev_done");
	call_only(&c, 1000, 500, 1000);
	e.dev_done.sock = SOCK;
	e.dev_done.seq = 1000;
	e.dev_done.len = 500;
	e.dev_done.rc = 16; /* NETDEV_TX_BUSY */
	feed(&c, &e);
	assert_bytes(&c, 0, 0);
	ev_done(&c, 5200, 0, SOCK, 1000, 500);
	assert_bytes(&c, 500, 0);
	assert_int_equal(stage_sum(tx_of(&c, SOCK), TX_STAGE_SNDBUF), 4000 * 500);
	feed_end(&c);
}

/*
 * A bit of the sequence number was flipped in the queue: the frame seems to hold bytes that are
 * written later. It arrives nowhere, so its actual bytes are sent again.
 */
static void a_damaged_header_gives_no_times_to_bytes_to_come(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	ev_enter(&c, 1100, TID, SOCK, MG_SYS_sendto, 1000);
	ev_send(&c, 1200, TID, SOCK, 1000, 512, 1000);
	ev_packet(&c, 1300, TID, MG_EVENT_ip_out, SOCK, 1000, 512);
	ev_packet(&c, 1400, TID, MG_EVENT_ip_post, SOCK, 1000, 512);
	ev_packet(&c, 1500, TID, MG_EVENT_dev_queue, SOCK, 1000, 512);
	ev_packet(&c, 1600, TID, MG_EVENT_dev_xmit, SOCK, 1000 ^ 1 << 10, 512); /* 2024 */
	ev_done(&c, 1700, TID, SOCK, 1000 ^ 1 << 10, 512);
	ev_exit(&c, 1800, TID, SOCK, MG_SYS_sendto, 1512, 512);
	ev_app(&c, TID, MG_FN_send, 1000, 1900, 512);
	f = tx_of(&c, SOCK);
	assert_int_equal(f->total, 512);
	ev_packet(&c, 1601, TID, MG_EVENT_dev_xmit, SOCK, 1000 + (1u << 24), 512);
	assert_int_equal(f->total, 512);
	feed_send(&c, TID, SOCK, 1512, 1024, 100000, 100);
	ev_retransmit(&c, 200000, SOCK, 1000, 512);
	ev_packet(&c, 200100, 0, MG_EVENT_ip_out, SOCK, 1000, 512);
	ev_packet(&c, 200200, 0, MG_EVENT_ip_post, SOCK, 1000, 512);
	ev_packet(&c, 200300, 0, MG_EVENT_dev_queue, SOCK, 1000, 512);
	ev_packet(&c, 200400, 0, MG_EVENT_dev_xmit, SOCK, 1000, 512);
	ev_done(&c, 200500, 0, SOCK, 1000, 512);
	ev_ack(&c, 300000, SOCK, 2536);
	core_finish(&c);
	assert_bytes(&c, 1536, 0);
	assert_int_equal(f->copies.ambiguous, 512);
	feed_end(&c);
}

/*
 * An acknowledgement was damaged and seems to cover bytes that are sent later. They have not been
 * received, so the timestamps of what waits in a queue are still expected.
 */
static void a_damaged_acknowledgement_gives_no_bytes_up(void **unused)
{
	const uint64_t late = 1000000000;
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	feed_send(&c, TID, SOCK, 1000, 500, 1000, 100);
	ev_ack(&c, 100000, SOCK, 1500 ^ 1u << 14);
	ev_ack(&c, late, SOCK, 1500 ^ 1u << 20);
	ev_enter(&c, late + 100, TID, SOCK, MG_SYS_sendto, 1500);
	ev_send(&c, late + 200, TID, SOCK, 1500, 1000, 1500);
	for (uint32_t seq = 1500; seq < 2500; seq += 500)
		for (int i = 0; i < 3; i++)
			ev_packet(&c, late + 300 + seq + i, TID,
				(const uint16_t[]){
					MG_EVENT_ip_out, MG_EVENT_ip_post, MG_EVENT_dev_queue}[i],
				SOCK, seq, 500);
	ev_exit(&c, late + 9000, TID, SOCK, MG_SYS_sendto, 2500, 1000);
	ev_app(&c, TID, MG_FN_send, late, late + 9100, 1000);
	for (uint32_t seq = 1500; seq < 2500; seq += 500) {
		ev_packet(&c, 2 * late + seq, 0, MG_EVENT_dev_xmit, SOCK, seq, 500);
		ev_done(&c, 2 * late + seq + 1, 0, SOCK, seq, 500);
	}
	ev_ack(&c, 3 * late, SOCK, 2500);
	core_finish(&c);
	assert_int_equal(tx_of(&c, SOCK)->total, 1500);
	assert_bytes(&c, 1500, 0);
	feed_end(&c);
}

/*
 * connect() is refused, and repeated on the same socket: bytes that the refusals acknowledge do not
 * belong to the connection that opens in the end.
 */
static void a_refused_connect_acknowledges_no_bytes(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_packet(&c, 1, TID, MG_EVENT_ip_out, SOCK, 700, 0);
	ev_ack(&c, 100 * MS, SOCK, 800);
	ev_ack(&c, 200 * MS, SOCK, 850);
	ev_opened(&c, 300 * MS, SOCK, 999, 4999);
	ev_enter(&c, 301 * MS, TID, SOCK, MG_SYS_sendto, 1000);
	ev_send(&c, 302 * MS, TID, SOCK, 1000, 500, 1000);
	ev_packet(&c, 303 * MS, TID, MG_EVENT_ip_out, SOCK, 1000, 500);
	ev_packet(&c, 304 * MS, TID, MG_EVENT_ip_post, SOCK, 1000, 500);
	ev_packet(&c, 305 * MS, TID, MG_EVENT_dev_queue, SOCK, 1000, 500);
	ev_exit(&c, 306 * MS, TID, SOCK, MG_SYS_sendto, 1500, 500);
	ev_app(&c, TID, MG_FN_send, 300 * MS, 307 * MS, 500);
	ev_packet(&c, 308 * MS, 0, MG_EVENT_dev_xmit, SOCK, 1000, 500);
	ev_done(&c, 309 * MS, 0, SOCK, 1000, 500);
	ev_ack(&c, 310 * MS, SOCK, 1500);
	core_finish(&c);
	assert_bytes(&c, 500, 0);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_times_of_two_copies_make_no_stages),
		cmocka_unit_test(a_refused_retransmission_does_not_count),
		cmocka_unit_test(bytes_that_pass_again_when_all_is_known_change_nothing),
		cmocka_unit_test(a_segment_that_is_partly_new_counts_as_both),
		cmocka_unit_test(the_acknowledgement_of_a_fin_is_no_byte),
		cmocka_unit_test(refused_transmission_is_not_done),
		cmocka_unit_test(a_damaged_header_gives_no_times_to_bytes_to_come),
		cmocka_unit_test(a_damaged_acknowledgement_gives_no_bytes_up),
		cmocka_unit_test(a_refused_connect_acknowledges_no_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
