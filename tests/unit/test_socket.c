/* SPDX-License-Identifier: MIT */
#include "socket/anchor.h"
#include "socket/socket.h"
#include "feed.h"

#define GIB (1ull << 30)

static void anchor(struct flow *f, uint32_t seq, uint64_t off)
{
	memset(f, 0, sizeof(*f));
	f->anchor.seq = seq;
	f->anchor.off = off;
	f->anchor.set = true;
}

static void assert_offset(struct flow *f, uint32_t seq, uint64_t expected)
{
	uint64_t off = 0;

	assert_true(flow_offset(f, seq, &off));
	assert_int_equal(off, expected);
}

static void offsets_count_from_the_anchor(void **unused)
{
	struct flow f;

	(void)unused;
	anchor(&f, 5000, 0);
	assert_offset(&f, 5000, 0);
	assert_offset(&f, 6448, 1448);
	assert_offset(&f, 5100, 100); /* going back: a retransmission */
}

static void sequence_numbers_may_wrap(void **unused)
{
	struct flow f;

	(void)unused;
	anchor(&f, 0xfffffff0u, 0);
	assert_offset(&f, 0xffffffffu, 15);
	assert_offset(&f, 0, 16);
	assert_offset(&f, 0x1000, 0x1010);
	assert_offset(&f, 0xfffffff8u, 8);
}

/*
 * A window is at most 2^30: a sequence number may lie that far ahead of what is known, or behind.
 */
static void streams_may_be_longer_than_sequence_numbers(void **unused)
{
	uint64_t seed = 1, at = 0;
	struct flow f;

	(void)unused;
	anchor(&f, 0xc0000001u, 0);
	while (at < 40 * GIB) {
		uint64_t back = unit_random_below(&seed, GIB + 1);

		at += unit_random_below(&seed, GIB + 1);
		assert_offset(&f, (uint32_t)(0xc0000001u + at), at);
		if (back <= at)
			assert_offset(&f, (uint32_t)(0xc0000001u + at - back), at - back);
	}
}

static void no_bytes_precede_the_first_one(void **unused)
{
	struct flow f;
	uint64_t off;

	(void)unused;
	anchor(&f, 5000, 0);
	assert_false(flow_offset(&f, 4999, &off)); /* a SYN, or a keepalive */
	assert_offset(&f, 5010, 10);
	assert_offset(&f, 5000, 0);
	assert_false(flow_offset(&f, 4999, &off));
}

static void without_an_anchor_the_first_number_is_one(void **unused)
{
	struct flow f = {0};

	(void)unused;
	assert_offset(&f, 123456, 0);
	assert_true(f.anchor.set);
	assert_true(f.anchor.relative);
	assert_offset(&f, 123556, 100);
}

static void an_opening_anchors_both_directions(void **unused)
{
	struct mg_sock *s;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 100, 1, 999, 4999);
	s = sock_find(&c, 1);
	assert_true(s->met.opened);
	assert_int_equal(s->ends.isn, 999);
	assert_int_equal(s->ends.irs, 4999);
	assert_int_equal(s->opener, 1);
	assert_offset(&s->tx, 1000, 0);
	assert_offset(&s->rx, 5000, 0);
	assert_false(s->tx.anchor.relative);
	feed_end(&c);
}

/* The packets of the handshake come first, when nothing is known yet. */
static void packets_before_the_opening_do_not_shift_offsets(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_packet(&c, 10, 0, MG_EVENT_ip_out, 1, 999, 0);    /* SYN */
	ev_packet(&c, 20, 0, MG_EVENT_dev_recv, 1, 4999, 0); /* SYN ACK */
	ev_opened(&c, 30, 1, 999, 4999);
	assert_offset(tx_of(&c, 1), 1000, 0);
	assert_offset(rx_of(&c, 1), 5000, 0);
	feed_end(&c);
}

static void later_states_do_not_move_the_anchor(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 100, 1, 999, 4999);
	ev_opened(&c, 200, 1, 1999, 5999);
	assert_offset(tx_of(&c, 1), 1000, 0);
	ev_closed(&c, 300, 1);
	assert_int_equal(sock_find(&c, 1)->state, 7);
	assert_offset(tx_of(&c, 1), 1000, 0);
	feed_end(&c);
}

static void state_names_the_ends(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_sock_state, 10, 0);
	struct mg_sock *s;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	e.sock_state.sock = 3;
	e.sock_state.netns = 4026531840u;
	e.sock_state.lport = 40000;
	e.sock_state.rport = 80;
	e.sock_state.family = 10;
	e.sock_state.now = 2;
	feed(&c, &e);
	s = sock_find(&c, 3);
	assert_int_equal(s->netns, 4026531840u);
	assert_int_equal(s->lport, 40000);
	assert_int_equal(s->rport, 80);
	assert_int_equal(s->family, 10);
	assert_false(s->met.opened);
	feed_end(&c);
}

static void addresses_are_kept(void **unused)
{
	static const uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff, [12] = 10, [15] = 2};
	struct mg_event e = feed_event(MG_EVENT_sock_addr, 10, 0);
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	e.sock_addr.sock = 3;
	memcpy(e.sock_addr.laddr, mapped, 16);
	feed(&c, &e);
	assert_true(sock_find(&c, 3)->has_addr);
	assert_memory_equal(sock_find(&c, 3)->laddr, mapped, 16);
	feed_end(&c);
}

/* Announces a socket that has sent 1,100 bytes before, 100 of them still in flight. */
static void announce(
	struct core *c, uint32_t tid, uint64_t acked, uint32_t sent_once, uint64_t received)
{
	struct mg_event e = feed_event(MG_EVENT_sock_open, 50, tid);

	e.sock_open.sock = 1;
	e.sock_open.bytes_acked = acked;
	e.sock_open.bytes_received = received;
	e.sock_open.snd_una = 70000;
	e.sock_open.snd_nxt = 70100;
	e.sock_open.rcv_nxt = 90000;
	e.sock_open.sent_once = sent_once;
	feed(c, &e);
}

/* The same as the first thing of a recording. */
static void late(struct core *c, uint64_t acked, uint32_t sent_once, uint64_t received)
{
	feed_begin(c, ALL_HOOKS);
	announce(c, 0, acked, sent_once, received);
}

/* Has a read whose call began 50 bytes before announce the socket. Returns where its flow begins.
 */
static uint64_t announced_in(int call, uint64_t sock, bool waits)
{
	struct core c;
	uint64_t start;

	feed_begin(&c, ALL_HOOKS "," SCHED_HOOKS);
	ev_enter(&c, 20, 7, sock, call, 89950);
	if (waits) {
		ev_switch(&c, 25, 0, 7, 1, 0);
		ev_switch(&c, 40, 0, 0, 0, 7);
	}
	announce(&c, 7, 1000, 1100, 77);
	start = rx_of(&c, 1)->start;
	feed_end(&c);
	return start;
}

static void a_read_that_waited_reads_what_came_meanwhile(void **unused)
{
	(void)unused;
	assert_int_equal(announced_in(MG_SYS_recvfrom, 0, true), 27);
	assert_int_equal(announced_in(MG_SYS_recvfrom, 1, true), 27);
	assert_int_equal(announced_in(MG_SYS_recvfrom, 2, true), 77);  /* another socket */
	assert_int_equal(announced_in(MG_SYS_recvfrom, 0, false), 77); /* queued before, perhaps */
	assert_int_equal(announced_in(MG_SYS_sendto, 0, true), 77);
}

static void a_late_passive_socket_is_anchored_by_its_counters(void **unused)
{
	struct core c;

	(void)unused;
	late(&c, 1000, 1100, 77);
	assert_offset(tx_of(&c, 1), 70000, 1000);
	assert_offset(rx_of(&c, 1), 90000, 77);
	assert_false(tx_of(&c, 1)->anchor.relative);
	assert_int_equal(tx_of(&c, 1)->done, 1000);
	assert_int_equal(rx_of(&c, 1)->done, 77);
	feed_end(&c);
}

/* An active opener's bytes_acked counts its SYN [measured: 1,100 sent, 1,101 acknowledged]. */
static void a_late_active_socket_counts_one_less(void **unused)
{
	struct core c;

	(void)unused;
	late(&c, 1001, 1100, 0);
	assert_offset(tx_of(&c, 1), 70000, 1000);
	assert_false(tx_of(&c, 1)->anchor.relative);
	feed_end(&c);
}

static void the_low_halves_of_counters_are_enough(void **unused)
{
	struct core c;

	(void)unused;
	late(&c, 5 * (1ull << 32) + 1, 100, 0); /* sent_once is 5 * 2^32 + 100, cut to 32 bits */
	assert_offset(tx_of(&c, 1), 70000, 5 * (1ull << 32));
	feed_end(&c);
}

/* Segments dropped by a local qdisc inflate bytes_sent: then the start is not known. */
static void counters_that_contradict_each_other_are_not_believed(void **unused)
{
	struct core c;

	(void)unused;
	late(&c, 1000, 83860, 0);
	assert_offset(tx_of(&c, 1), 70000, 0);
	assert_true(tx_of(&c, 1)->anchor.relative);
	feed_end(&c);
}

static void an_opening_that_was_seen_is_better_than_counters(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_sock_open, 50, 0);
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, 1, 999, 4999);
	e.sock_open.sock = 1;
	e.sock_open.bytes_acked = 500;
	e.sock_open.snd_una = 1000;
	feed(&c, &e);
	assert_offset(tx_of(&c, 1), 1000, 0);
	feed_end(&c);
}

/* A FIN in flight is in snd_nxt but not in bytes_sent, and looks like a SYN that was counted. */
static void an_idle_late_socket_that_is_closing_does_not_begin_before_zero(void **unused)
{
	struct mg_event e = feed_event(MG_EVENT_sock_open, 50, 0);
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	e.sock_open.sock = 1;
	e.sock_open.snd_una = 70000;
	e.sock_open.snd_nxt = 70001;
	feed(&c, &e);
	assert_int_equal(tx_of(&c, 1)->done, 0);
	feed_end(&c);
}

static void there_is_no_socket_without_a_cookie(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, 0, 999, 4999);
	ev_packet(&c, 20, 0, MG_EVENT_ip_out, 0, 1000, 100);
	assert_null(c.sockets.socks);
	assert_null(sock_get(&c, 0));
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(offsets_count_from_the_anchor),
		cmocka_unit_test(sequence_numbers_may_wrap),
		cmocka_unit_test(streams_may_be_longer_than_sequence_numbers),
		cmocka_unit_test(no_bytes_precede_the_first_one),
		cmocka_unit_test(without_an_anchor_the_first_number_is_one),
		cmocka_unit_test(an_opening_anchors_both_directions),
		cmocka_unit_test(packets_before_the_opening_do_not_shift_offsets),
		cmocka_unit_test(later_states_do_not_move_the_anchor),
		cmocka_unit_test(state_names_the_ends),
		cmocka_unit_test(addresses_are_kept),
		cmocka_unit_test(a_late_passive_socket_is_anchored_by_its_counters),
		cmocka_unit_test(a_read_that_waited_reads_what_came_meanwhile),
		cmocka_unit_test(a_late_active_socket_counts_one_less),
		cmocka_unit_test(the_low_halves_of_counters_are_enough),
		cmocka_unit_test(counters_that_contradict_each_other_are_not_believed),
		cmocka_unit_test(an_opening_that_was_seen_is_better_than_counters),
		cmocka_unit_test(an_idle_late_socket_that_is_closing_does_not_begin_before_zero),
		cmocka_unit_test(there_is_no_socket_without_a_cookie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
