/* SPDX-License-Identifier: MIT */
/* Urgent bytes, and bytes read without an event; byte 0 is number 5000. */
#include "feed.h"
#include "figures/figures.h"
#include "figures/flows.h"
#include "filter/filter.h"

#define TID  10
#define SOCK 1
#define OOB  0x1
#define URG  32

static void open_core(struct core *c)
{
	feed_begin(c, ALL_HOOKS);
	ev_opened(c, 10, SOCK, 999, 4999);
}

/* Feeds a segment that announces an urgent byte, its last one. */
static void urgent_segment(struct core *c, uint32_t seq, uint32_t len, uint64_t at)
{
	struct mg_event e = feed_event(MG_EVENT_dev_recv, at, 0);

	e.packet.sock = SOCK;
	e.packet.seq = seq;
	e.packet.len = len;
	e.packet.segs = 1;
	e.packet.tcp_flags = URG;
	feed(c, &e);
	ev_packet(c, at + 1, 0, MG_EVENT_ip_in, SOCK, seq, len);
	ev_tcp(c, at + 2, SOCK, seq, len);
	ev_ready(c, at + 3, SOCK, seq + len);
}

/* Feeds a recv(MSG_OOB): K0 at + 1, K1 at + 3, U1 at + 4. */
static void read_urgent(struct core *c, uint32_t copied_seq, uint64_t at, int64_t ret)
{
	ev_enter_flags(c, at + 1, TID, SOCK, MG_SYS_recvfrom, copied_seq, OOB);
	ev_exit(c, at + 3, TID, SOCK, MG_SYS_recvfrom, copied_seq, ret);
	ev_app(c, TID, MG_FN_recv, at, at + 4, ret);
}

static void assert_bytes(
	const struct core *c, uint64_t complete, uint64_t incomplete, uint64_t not_read)
{
	assert_int_equal(rx_of(c, SOCK)->complete, complete);
	assert_int_equal(rx_of(c, SOCK)->incomplete, incomplete);
	assert_int_equal(rx_of(c, SOCK)->urgent.discarded, not_read);
}

static void a_byte_read_out_of_band_has_its_place_in_the_stream(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c);
	urgent_segment(&c, 5000, 101, 2000); /* byte 100; R 2000, A 2003 */
	read_urgent(&c, 5000, 3000, 1);
	feed_recv(&c, TID, SOCK, 5000, 100, 4000, 1);
	feed_segment(&c, SOCK, 5101, 50, 4500, 1);
	ev_enter(&c, 5001, TID, SOCK, MG_SYS_recvfrom, 5100);
	ev_copy(&c, 5002, TID, SOCK, 5101, 50); /* behind the hole */
	ev_exit(&c, 5003, TID, SOCK, MG_SYS_recvfrom, 5151, 50);
	ev_app(&c, TID, MG_FN_recv, 5000, 5004, 50);
	f = rx_of(&c, SOCK);
	assert_bytes(&c, 151, 0, 0);
	assert_int_equal(f->done, 151);
	/* R 2000 to U1: 4004 in band, 3004 out of it; and R 4500 to 5004 */
	assert_true(measures_in(f)->residence.sum == 2004 * 100 + 1004 + 504 * 50);
	assert_int_equal(f->use.calls, 3);
	feed_end(&c);
}

static void an_unread_urgent_byte_is_discarded(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	urgent_segment(&c, 5000, 101, 2000);
	feed_recv(&c, TID, SOCK, 5000, 100, 4000, 1);
	feed_segment(&c, SOCK, 5101, 50, 4500, 1);
	feed_recv(&c, TID, SOCK, 5101, 50, 5000, 1);
	assert_bytes(&c, 150, 0, 1);
	feed_end(&c);
}

static void failed_call_reads_nothing(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	urgent_segment(&c, 5000, 101, 2000);
	read_urgent(&c, 5000, 3000, -22);
	feed_recv(&c, TID, SOCK, 5000, 100, 4000, 1);
	feed_segment(&c, SOCK, 5101, 50, 4500, 1);
	feed_recv(&c, TID, SOCK, 5101, 50, 5000, 1);
	assert_bytes(&c, 150, 0, 1);
	feed_end(&c);
}

/* A newer one replaces it: both lie in one hole, and the call reads the second. */
static void newer_urgent_byte_replaces_the_older(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	urgent_segment(&c, 5000, 11, 2000);
	feed_recv(&c, TID, SOCK, 5000, 10, 2500, 1);
	urgent_segment(&c, 5011, 1, 3000);
	read_urgent(&c, 5011, 3500, 1);
	feed_segment(&c, SOCK, 5012, 20, 4000, 1);
	feed_recv(&c, TID, SOCK, 5012, 20, 5000, 1);
	assert_bytes(&c, 31, 0, 1);
	feed_end(&c);
}

/* After it comes only the end of the stream, and recv() returns 0. */
static void the_last_byte_may_be_urgent(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_dev_recv, 3900, 0);
	struct core c;

	(void)unused;
	open_core(&c);
	urgent_segment(&c, 5000, 11, 2000);
	feed_recv(&c, TID, SOCK, 5000, 10, 2500, 1);
	read_urgent(&c, 5010, 3500, 1);
	e.packet.sock = SOCK;
	e.packet.seq = 5011;
	e.packet.tcp_flags = 1; /* FIN */
	feed(&c, &e);
	ev_enter(&c, 4000, TID, SOCK, MG_SYS_recvfrom, 5010);
	ev_exit(&c, 4001, TID, SOCK, MG_SYS_recvfrom, 5012, 0);
	ev_app(&c, TID, MG_FN_recv, 3999, 4002, 0);
	assert_bytes(&c, 11, 0, 0);
	assert_int_equal(rx_of(&c, SOCK)->total, 11);
	feed_end(&c);
}

/* Without a segment that announces one it is a read whose event is lost. */
static void a_hole_for_another_reason_is_none(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	feed_segment(&c, SOCK, 5000, 101, 2000, 1);
	feed_recv(&c, TID, SOCK, 5000, 100, 4000, 1);
	feed_segment(&c, SOCK, 5101, 50, 4500, 1);
	feed_recv(&c, TID, SOCK, 5101, 50, 5000, 1);
	assert_bytes(&c, 150, 1, 0);
	feed_end(&c);
}

/* A MSG_TRUNC that begins at one: the position moves by one more than it returns. */
static void bytes_placed_by_position_lie_behind_it(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	urgent_segment(&c, 5000, 1, 2000);
	feed_segment(&c, SOCK, 5001, 50, 2500, 1);
	ev_enter_flags(&c, 3001, TID, SOCK, MG_SYS_recvfrom, 5000, 0x20);
	ev_exit(&c, 3003, TID, SOCK, MG_SYS_recvfrom, 5051, 50);
	ev_app(&c, TID, MG_FN_recv, 3000, 3004, 50);
	assert_bytes(&c, 50, 0, 1);
	feed_end(&c);
}

/* The error queue holds copies of what was sent, which are not received bytes. */
static void the_error_queue_is_no_part_of_the_stream(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	feed_segment(&c, SOCK, 5000, 100, 2000, 1);
	ev_enter_flags(&c, 3001, TID, SOCK, MG_SYS_recvmsg, 5000, 0x2000);
	ev_copy(&c, 3002, TID, SOCK, 5000, 40);
	ev_exit(&c, 3003, TID, SOCK, MG_SYS_recvmsg, 5000, 40);
	ev_app(&c, TID, MG_FN_recvmsg, 3000, 3004, 40);
	assert_bytes(&c, 0, 0, 0);
	feed_recv(&c, TID, SOCK, 5000, 100, 4000, 1);
	assert_bytes(&c, 100, 0, 0);
	feed_end(&c);
}

/* getsockopt(TCP_ZEROCOPY_RECEIVE) returns 0: only the position is known. */
static void pages_may_be_mapped(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	feed_segment(&c, SOCK, 5000, 8192, 2000, 1);
	ev_enter_flags(&c, 3001, TID, SOCK, MG_SYS_getsockopt, 5000, 6 << 16 | 35);
	ev_copy(&c, 3002, TID, SOCK, 5000,
		100); /* the rest that fills no page; its position is stale */
	ev_exit(&c, 3003, TID, SOCK, MG_SYS_getsockopt, 13192, 0);
	ev_app(&c, TID, MG_FN_getsockopt, 3000, 3004, 0);
	assert_bytes(&c, 8192, 0, 0);
	assert_int_equal(rx_of(&c, SOCK)->use.open, 0);
	/* another option reads nothing */
	ev_enter_flags(&c, 4001, TID, SOCK, MG_SYS_getsockopt, 77, 6 << 16 | 11);
	ev_exit(&c, 4003, TID, SOCK, MG_SYS_getsockopt, 0, 0);
	ev_app(&c, TID, MG_FN_getsockopt, 4000, 4004, 0);
	assert_bytes(&c, 8192, 0, 0);
	feed_end(&c);
}

/* Bytes read by the kernel itself, for example, are not kept for ever. */
static void bytes_read_without_an_event_are_given_up(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c);
	for (uint32_t i = 0; i < 5000; i++) {
		uint64_t at = 1000 + i * 1000000ull;
		uint32_t seq = 5000 + i * 100;

		ev_packet(&c, at, 0, MG_EVENT_dev_recv, SOCK, seq, 100);
		ev_packet(&c, at + 1, 0, MG_EVENT_ip_in, SOCK, seq, 100);
		ev_ready_read(&c, at + 3, SOCK, seq + 100, seq);
	}
	assert_true(rx_of(&c, SOCK)->layer[RX_DEV].len < 4000);
	assert_true(rx_of(&c, SOCK)->incomplete > 100000);
	feed_end(&c);
}

/* io_uring: a call without direction, in which much may be sent and received. */
static void io_uring_sends_have_no_length(void **unused)
{
	struct mg_event enter = feed_event(MG_EVENT_sys_enter, 3000, TID);
	struct core c;

	(void)unused;
	open_core(&c);
	feed_segment(&c, SOCK, 5000, 100, 2000, 1);
	enter.sys_enter.call = MG_SYS_io_uring_enter;
	enter.sys_enter.kind = MG_KIND_other; /* without a socket */
	feed(&c, &enter);
	ev_send(&c, 3001, TID, SOCK, 1000, 50, 1000);
	ev_copy(&c, 3002, TID, SOCK, 5000, 100);
	ev_exit(&c, 3003, TID, 0, MG_SYS_io_uring_enter, 0, 2);
	core_finish(&c);
	assert_bytes(&c, 100, 0, 0);
	assert_int_equal(measures_in(tx_of(&c, SOCK))->units[TX_CALL].n, 0);
	assert_int_equal(measures_in(tx_of(&c, SOCK))->units[TX_QUEUE].n, 0);
	feed_end(&c);
}

/* Feeds 100 bytes, an urgent one that is read at 3,000, and 50 more. */
static void read_all(struct core *c)
{
	urgent_segment(c, 5000, 101, 2000);
	read_urgent(c, 5000, 3000, 1);
	feed_recv(c, TID, SOCK, 5000, 100, 4000, 1);
	feed_segment(c, SOCK, 5101, 50, 4500, 1);
	feed_recv(c, TID, SOCK, 5101, 50, 5000, 1);
}

static void a_window_has_the_urgent_bytes_read_in_it(void **unused)
{
	static const uint64_t edge[] = {0, 3500, 4800, 0}, bytes[] = {1, 100, 50};
	struct fact_flow flow;
	struct filter f;

	(void)unused;
	for (int i = 0; i < 3; i++) {
		struct core c;

		f = (struct filter){.from_ns = edge[i], .to_ns = edge[i + 1]};
		assert_true(filter_begin(&f));
		open_core(&c);
		figures_filter(&c, &f);
		read_all(&c);
		core_finish(&c);
		assert_true(core_flow(&c, SOCK, true, &flow));
		assert_int_equal(flow.end - flow.offset, 151);
		assert_true(figures_take_flow(&c, &flow));
		assert_int_equal(flow_bytes(&flow), bytes[i]);
		feed_end(&c);
		filter_free(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_byte_read_out_of_band_has_its_place_in_the_stream),
		cmocka_unit_test(an_unread_urgent_byte_is_discarded),
		cmocka_unit_test(failed_call_reads_nothing),
		cmocka_unit_test(newer_urgent_byte_replaces_the_older),
		cmocka_unit_test(the_last_byte_may_be_urgent),
		cmocka_unit_test(a_hole_for_another_reason_is_none),
		cmocka_unit_test(bytes_placed_by_position_lie_behind_it),
		cmocka_unit_test(the_error_queue_is_no_part_of_the_stream),
		cmocka_unit_test(pages_may_be_mapped),
		cmocka_unit_test(bytes_read_without_an_event_are_given_up),
		cmocka_unit_test(io_uring_sends_have_no_length),
		cmocka_unit_test(a_window_has_the_urgent_bytes_read_in_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
