/* SPDX-License-Identifier: MIT */
/* Received bytes; the peer's ISN is 4999, so that byte 0 is number 5000. */
#include <math.h>

#include "socket/anchor.h"
#include "feed.h"
#include "report.h"

#define TID       10
#define SOCK      1
#define TCP_FIN   1
#define FLAG_PEEK 0x2

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

/* The second segment comes first, and waits for the other: head of line. */
static void bytes_out_of_order_wait_for_those_before(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	ev_packet(&c, 2000, 0, MG_EVENT_dev_recv, SOCK, 6000, 1000);
	ev_packet(&c, 2100, 0, MG_EVENT_ip_in, SOCK, 6000, 1000);
	ev_tcp(&c, 2200, SOCK, 6000, 1000);
	feed_segment(&c, SOCK, 5000, 1000, 4000, 100); /* in order at 4300 ... */
	ev_ready(&c, 4310, SOCK, 7000);                /* ... and the other right after */
	feed_recv(&c, TID, SOCK, 5000, 2000, 9000, 100);
	f = rx_of(&c, SOCK);
	assert_bytes(&c, 2000, 0);
	assert_int_equal(stage_sum(f, RX_STAGE_ORDER), 2000 * 1000);
	assert_int_equal(stage_sum(f, RX_STAGE_IP_TCP), 200 * 1000 + 210 * 1000);
	assert_int_equal(stage_sum(f, RX_STAGE_DEV_IP), 100 * 2000);
	assert_int_equal(measures_in(f)->units[RX_READY].n, 2);
	feed_end(&c);
}

static void the_first_copy_of_a_duplicate_counts(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	feed_segment(&c, SOCK, 5000, 1000, 2000, 100);
	feed_segment(&c, SOCK, 5000, 1000, 3000, 100);
	feed_recv(&c, TID, SOCK, 5000, 1000, 9000, 100);
	f = rx_of(&c, SOCK);
	assert_bytes(&c, 1000, 0);
	assert_int_equal(stage_sum(f, RX_STAGE_ABSENT), 6800 * 1000);
	assert_int_equal(measures_in(f)->units[RX_DEV].n, 1);
	assert_int_equal(measures_in(f)->units[RX_DEV].again, 1000);
	assert_int_equal(measures_in(f)->units[RX_READY].n, 1);
	feed_end(&c);
}

/* Before a connection is established tcp_recv does not fire: IP to in order is one stage. */
static void without_tcps_event_two_stages_become_one(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	ev_packet(&c, 2000, 0, MG_EVENT_dev_recv, SOCK, 5000, 1000);
	ev_packet(&c, 2100, 0, MG_EVENT_ip_in, SOCK, 5000, 1000);
	ev_ready(&c, 2300, SOCK, 6000);
	feed_recv(&c, TID, SOCK, 5000, 1000, 9000, 100);
	assert_bytes(&c, 1000, 0);
	assert_int_equal(stage_sum(rx_of(&c, SOCK), RX_STAGE_IP_TCP), 200 * 1000);
	assert_int_equal(stage_sum(rx_of(&c, SOCK), RX_STAGE_ORDER), 0);
	feed_end(&c);
}

static void a_segment_may_be_read_in_parts(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	feed_segment(&c, SOCK, 5000, 1000, 2000, 100);
	feed_recv(&c, TID, SOCK, 5000, 300, 3000, 100);
	feed_recv(&c, TID, SOCK, 5300, 700, 4000, 100);
	f = rx_of(&c, SOCK);
	assert_bytes(&c, 1000, 0);
	assert_int_equal(stage_sum(f, RX_STAGE_ABSENT), 800 * 300 + 1800 * 700);
	assert_int_equal(f->use.calls, 2);
	assert_int_equal(f->done, 1000);
	feed_end(&c);
}

static void several_segments_may_be_read_together(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	feed_segment(&c, SOCK, 5000, 1000, 2000, 100);
	feed_segment(&c, SOCK, 6000, 1000, 3000, 100);
	ev_enter(&c, 9000, TID, SOCK, MG_SYS_recvfrom, 5000);
	ev_copy(&c, 9100, TID, SOCK, 5000, 1000); /* one buffer after the other */
	ev_copy(&c, 9200, TID, SOCK, 6000, 1000);
	ev_exit(&c, 9300, TID, SOCK, MG_SYS_recvfrom, 7000, 2000);
	ev_app(&c, TID, MG_FN_recv, 8900, 9400, 2000);
	f = rx_of(&c, SOCK);
	assert_bytes(&c, 2000, 0);
	assert_int_equal(stage_sum(f, RX_STAGE_ABSENT), 6700 * 1000 + 5700 * 1000);
	assert_int_equal(stage_sum(f, RX_STAGE_COPY), 100 * 1000 + 200 * 1000);
	assert_int_equal(stage_sum(f, RX_STAGE_RETURN), 300 * 1000 + 200 * 1000);
	assert_int_equal(measures_in(f)->units[RX_CALL].n, 1);
	assert_int_equal(measures_in(f)->units[RX_CALL].bytes, 2000);
	feed_end(&c);
}

static void ev_peek(struct core *c, uint64_t enter, uint64_t leave, int64_t ret)
{
	struct mg_event e = feed_event(MG_APP_BASE + MG_FN_recv, leave + 1, TID);

	e.call = (struct mg_call){.enter = enter,
		.exit = leave,
		.ret = ret,
		.flags = FLAG_PEEK,
		.tid = TID,
		.pid = TID,
		.kind = MG_KIND_tcp};
	feed(c, &e);
}

static void peeking_consumes_nothing(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	feed_segment(&c, SOCK, 5000, 1000, 2000, 100);
	ev_enter_flags(&c, 3000, TID, SOCK, MG_SYS_recvfrom, 5000, FLAG_PEEK);
	ev_copy(&c, 3100, TID, SOCK, 5000, 1000);
	ev_exit(&c, 3200, TID, SOCK, MG_SYS_recvfrom, 5000, 1000);
	ev_peek(&c, 2900, 3300, 1000);
	assert_int_equal(figures_of(&c)->calls.calls->n, 1);
	assert_int_equal(figures_of(&c)->calls.calls->bytes, 0);
	assert_bytes(&c, 0, 0);
	assert_int_equal(rx_of(&c, SOCK)->use.calls, 0);
	assert_int_equal(rx_of(&c, SOCK)->total, 0);
	feed_recv(&c, TID, SOCK, 5000, 1000, 9000, 100);
	assert_bytes(&c, 1000, 0);
	assert_int_equal(stage_sum(rx_of(&c, SOCK), RX_STAGE_ABSENT), 6800 * 1000);
	feed_end(&c);
}

/* MSG_TRUNC and splice() consume without a copy: the position decides, at the call's exit. */
static void bytes_consumed_without_a_copy_are_placed_by_position(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	feed_segment(&c, SOCK, 5000, 1000, 2000, 100);
	ev_enter(&c, 3000, TID, SOCK, MG_SYS_recvfrom, 5000);
	ev_exit(&c, 3200, TID, SOCK, MG_SYS_recvfrom, 6000, 1000);
	ev_app(&c, TID, MG_FN_recv, 2900, 3300, 1000);
	assert_bytes(&c, 1000, 0);
	assert_int_equal(stage_sum(rx_of(&c, SOCK), RX_STAGE_COPY), 200 * 1000);
	assert_int_equal(stage_sum(rx_of(&c, SOCK), RX_STAGE_RETURN), 100 * 1000);
	feed_end(&c);
}

static void two_threads_may_read_one_socket(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	feed_segment(&c, SOCK, 5000, 2000, 2000, 100);
	ev_enter(&c, 3000, TID, SOCK, MG_SYS_recvfrom, 5000);
	ev_copy(&c, 3100, TID, SOCK, 5000, 1000);
	feed_recv(&c, TID + 1, SOCK, 6000, 1000, 3200, 100); /* done first */
	assert_int_equal(rx_of(&c, SOCK)->done, 0);
	ev_exit(&c, 4000, TID, SOCK, MG_SYS_recvfrom, 6000, 1000);
	ev_app(&c, TID, MG_FN_recv, 2900, 4100, 1000);
	assert_bytes(&c, 2000, 0);
	assert_int_equal(rx_of(&c, SOCK)->done, 2000);
	feed_end(&c);
}

static void the_stream_may_wrap_and_pass_4_gib(void **unused)
{
	uint32_t irs = 0xfffffff0u, gib = 1u << 30;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, SOCK, 999, irs);
	for (uint32_t i = 0; i < 10; i++) {
		feed_segment(&c, SOCK, irs + 1 + i * gib, gib, 20000 + i * 2000, 100);
		feed_recv(&c, TID, SOCK, irs + 1 + i * gib, gib, 21000 + i * 2000, 100);
	}
	assert_bytes(&c, 10ull << 30, 0);
	assert_int_equal(rx_of(&c, SOCK)->total, 10ull << 30);
	assert_true(measures_in(rx_of(&c, SOCK))->residence.sum == 1400ull * 10 << 30);
	feed_end(&c);
}

/* Without U1 the last stage ends at the system call's exit. */
static void without_an_application_event_the_way_ends_at_the_exit(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, ALL_HOOKS);
	feed_segment(&c, SOCK, 5000, 1000, 2000, 100);
	ev_enter(&c, 3000, TID, SOCK, MG_SYS_read, 5000);
	ev_copy(&c, 3100, TID, SOCK, 5000, 1000);
	ev_exit(&c, 3300, TID, SOCK, MG_SYS_read, 6000, 1000);
	core_finish(&c);
	assert_bytes(&c, 1000, 0);
	assert_int_equal(stage_sum(rx_of(&c, SOCK), RX_STAGE_RETURN), 200 * 1000);
	assert_int_equal(rx_of(&c, SOCK)->use.kernel_only, 1000);
	feed_end(&c);
}

/* A call that reads the last bytes without copying them steps over the FIN, too. */
static void the_fin_is_none_of_the_bytes(void **unused)
{
	struct core c;
	struct mg_event fin = feed_event(MG_EVENT_dev_recv, 2500, 0);

	(void)unused;
	open_core(&c, ALL_HOOKS);
	feed_segment(&c, SOCK, 5000, 1000, 2000, 100);
	fin.packet.sock = SOCK;
	fin.packet.seq = 6000;
	fin.packet.tcp_flags = TCP_FIN;
	feed(&c, &fin);
	ev_ready_read(&c, 2600, SOCK, 6001, 5000);
	ev_enter(&c, 3000, TID, SOCK, MG_SYS_splice_in, 5000);
	ev_exit(&c, 3200, TID, SOCK, MG_SYS_splice_in, 6001, 1000);
	ev_app(&c, TID, MG_FN_splice_in, 2900, 3300, 1000);
	ev_ready_read(&c, 4000, SOCK, 6001, 6001);
	assert_bytes(&c, 1000, 0);
	assert_int_equal(rx_of(&c, SOCK)->total, 1000);
	assert_int_equal(rx_of(&c, SOCK)->use.calls, 1);
	assert_int_equal(measures_in(rx_of(&c, SOCK))->units[RX_CALL].bytes, 1000);
	feed_end(&c);
}

/* Where no call is recorded a stream's length is what arrived, and the bytes are not kept. */
static void without_the_calls_received_bytes_are_reported(void **unused)
{
	const struct flow *f;
	struct core c;

	(void)unused;
	open_core(&c, "dev_recv,ip_in ipv4,tcp_recv,tcp_ready");
	for (uint32_t i = 0; i < 3000; i++)
		feed_segment(&c, SOCK, 5000 + i * 10, 10, 2000 + i * 1000, 100);
	f = rx_of(&c, SOCK);
	assert_int_equal(f->total, 30000);
	assert_int_equal(measures_in(f)->units[RX_READY].bytes, 30000);
	for (int l = RX_DEV; l <= RX_READY; l++)
		assert_in_range(f->layer[l].len, 1, 2048);
	assert_true(isnan(flow_coverage(fact_of(&c, f))));
	feed_end(&c);
}

/* The calls' hooks are attached last, when sockets open before have been met. */
static void socket_met_before_the_call_hooks_is_followed(void **unused)
{
	struct core c;

	(void)unused;
	open_core(&c, RX_HOOKS);
	feed_segment(&c, SOCK, 5000, 1000, 2000, 100);
	ev_hook(&c, 2900, "sys_enter", 0, 0);
	ev_hook(&c, 2901, "sys_exit", 0, 0);
	feed_segment(&c, SOCK, 6000, 1000, 3000, 100);
	feed_recv(&c, TID, SOCK, 5000, 2000, 9000, 100);
	assert_bytes(&c, 2000, 0);
	assert_true(flow_coverage(fact_of(&c, rx_of(&c, SOCK))) == 1);
	feed_end(&c);
}

/* A state change reports the FIN where its segment is not recorded. */
static void fin_is_no_byte_if_its_segment_is_not_seen(void **unused)
{
	struct mg_event closing = feed_event(MG_EVENT_sock_state, 3000, 0);
	struct core c;

	(void)unused;
	open_core(&c, "sys_enter,sys_exit,tcp_recv,tcp_ready,sock_copy");
	ev_tcp(&c, 2000, SOCK, 5000, 1000);
	ev_ready(&c, 2100, SOCK, 6000);
	closing.sock_state = (struct mg_sock_state){.sock = SOCK,
		.old = MG_TCP_ESTABLISHED,
		.now = MG_TCP_CLOSE_WAIT,
		.write_seq = 1000,
		.rcv_nxt = 6001};
	feed(&c, &closing);
	ev_ready_read(&c, 3100, SOCK, 6001, 5000);
	feed_recv(&c, TID, SOCK, 5000, 1000, 4000, 100);
	assert_int_equal(rx_of(&c, SOCK)->total, 1000);
	assert_int_equal(measures_in(rx_of(&c, SOCK))->units[RX_READY].bytes, 1000);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_out_of_order_wait_for_those_before),
		cmocka_unit_test(the_first_copy_of_a_duplicate_counts),
		cmocka_unit_test(without_tcps_event_two_stages_become_one),
		cmocka_unit_test(a_segment_may_be_read_in_parts),
		cmocka_unit_test(several_segments_may_be_read_together),
		cmocka_unit_test(peeking_consumes_nothing),
		cmocka_unit_test(bytes_consumed_without_a_copy_are_placed_by_position),
		cmocka_unit_test(the_fin_is_none_of_the_bytes),
		cmocka_unit_test(fin_is_no_byte_if_its_segment_is_not_seen),
		cmocka_unit_test(without_the_calls_received_bytes_are_reported),
		cmocka_unit_test(socket_met_before_the_call_hooks_is_followed),
		cmocka_unit_test(two_threads_may_read_one_socket),
		cmocka_unit_test(the_stream_may_wrap_and_pass_4_gib),
		cmocka_unit_test(without_an_application_event_the_way_ends_at_the_exit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
