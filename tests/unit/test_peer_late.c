/* SPDX-License-Identifier: MIT */
/*
 * peer.c and anchor.c again: connections opened before the recording, and data in a SYN. Socket 1
 * has sent, and socket 2 received, LATE bytes before; both ISNs are as in test_peer.c.
 */
#include "socket/socket.h"
#include "feed.h"

#define SENDER   10
#define RECEIVER 20
#define A        1
#define B        2
#define LATE     7000000000ull

struct end {
	uint64_t sock, sent, received;
	uint32_t isn, irs;
	uint8_t host, peer;
	uint16_t port, peers_port;
	uint32_t netns;
	bool active, inflated, loopback;
	uint64_t unsent; /* written, and not sent yet */
};

/* Announces an open connection as a traced thread's first use does. */
static void announce(struct core *c, uint64_t t, const struct end *x)
{
	struct mg_event e = feed_event(MG_EVENT_sock_open, t, 0);
	uint32_t next = x->isn + 1 + (uint32_t)x->sent;

	e.sock_open = (struct mg_sock_open){.sock = x->sock,
		.bytes_acked = x->sent + x->active,
		.bytes_received = x->received,
		.snd_una = next,
		.snd_nxt = next,
		.rcv_nxt = x->irs + 1 + (uint32_t)x->received,
		.sent_once = (uint32_t)x->sent + (x->inflated ? 82760 : 0)};
	feed(c, &e);
	e = feed_event(MG_EVENT_sock_state, t, 0);
	e.sock_state = (struct mg_sock_state){.sock = x->sock,
		.write_seq = next + (uint32_t)x->unsent,
		.rcv_nxt = x->irs + 1 + (uint32_t)x->received,
		.netns = x->netns,
		.lport = x->port,
		.rport = x->peers_port,
		.now = 1,
		.family = 2};
	feed(c, &e);
	if (!x->host)
		return;
	e = feed_event(MG_EVENT_sock_addr, t, 0);
	e.sock_addr.sock = x->sock;
	for (int i = 10; i < 12; i++)
		e.sock_addr.laddr[i] = e.sock_addr.raddr[i] = 0xff;
	e.sock_addr.laddr[12] = e.sock_addr.raddr[12] = x->loopback ? 127 : 10;
	e.sock_addr.laddr[15] = x->host;
	e.sock_addr.raddr[15] = x->peer;
	feed(c, &e);
}

static const struct end a = {.sock = A,
	.sent = LATE,
	.received = 5,
	.isn = 999,
	.irs = 4999,
	.host = 1,
	.peer = 2,
	.port = 4000,
	.peers_port = 80,
	.active = true,
	.netns = 70};
static const struct end b = {.sock = B,
	.sent = 5,
	.received = LATE,
	.isn = 4999,
	.irs = 999,
	.host = 2,
	.peer = 1,
	.port = 80,
	.peers_port = 4000,
	.netns = 71};

/* Transfers bytes LATE + `at` ... of the stream: U0 t, X t + 6, peer's R t + 20, U1 t + 104. */
static void transfer(struct core *c, uint32_t at, uint32_t len, uint64_t t)
{
	uint32_t seq = 1000 + (uint32_t)LATE + at;

	feed_send(c, SENDER, A, seq, len, t, 1);
	feed_segment(c, B, seq, len, t + 20, 1);
	feed_recv(c, RECEIVER, B, seq, len, t + 100, 1);
}

static void assert_followed(struct core *c, uint64_t bytes)
{
	const struct flow *f = rx_of(c, B);

	assert_ptr_equal(f->sock->peer, sock_find(c, A));
	assert_int_equal(measures_in(f)->shift.weight, bytes);
	assert_true(measures_in(f)->shift.sum == 104 * bytes);
	assert_true(measures_in(f)->transit.sum == 14 * bytes);
	assert_int_equal(tx_of(c, A)->total, LATE + bytes);
	assert_false(tx_of(c, A)->anchor.relative);
}

static void their_counters_tell_who_belongs_together(void **unused)
{
	struct end x = a, y = b;
	struct core c;

	(void)unused;
	x.host = y.host = 0; /* no addresses are recorded */
	feed_begin(&c, ALL_HOOKS);
	announce(&c, 50, &x);
	announce(&c, 60, &y);
	transfer(&c, 0, 500, 1000);
	transfer(&c, 500, 700, 2000);
	assert_followed(&c, 1200);
	feed_end(&c);
}

/*
 * The position read when the hooks were attached is not known, and the next read waits
 * until the recording ends: later bytes are followed all the same.
 */
static void a_read_that_waits_at_the_end_holds_nothing_up(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	announce(&c, 50, &a);
	announce(&c, 60, &b);
	feed_send(&c, SENDER, A, 1000 + (uint32_t)LATE, 300, 1000, 1);
	feed_segment(&c, B, 1000 + (uint32_t)LATE, 300, 1020, 1);
	ev_enter(&c, 1500, RECEIVER + 1, B, MG_SYS_recvfrom, 1300 + (uint32_t)LATE);
	transfer(&c, 300, 500, 2000);
	assert_int_equal(measures_in(rx_of(&c, B))->shift.weight, 0);
	core_finish(&c);
	assert_int_equal(measures_in(rx_of(&c, B))->shift.weight, 500);
	assert_true(measures_in(rx_of(&c, B))->shift.sum == 104 * 500);
	assert_true(measures_in(rx_of(&c, B))->transit.sum == 14 * 500);
	assert_int_equal(rx_of(&c, B)->incomplete, 300);
	feed_end(&c);
}

/* One end is recorded from long before the other: the bytes in between have one end only. */
static void bytes_count_from_when_both_are_met(void **unused)
{
	struct end y = b;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	announce(&c, 50, &a);
	for (uint32_t i = 0; i < 5000; i++)
		feed_send(&c, SENDER, A, 1000 + (uint32_t)LATE + i * 10, 10, 1000 + i * 100, 1);
	y.received = LATE + 50000;
	announce(&c, 900000, &y);
	transfer(&c, 50000, 500, 1000000);
	assert_int_equal(measures_in(rx_of(&c, B))->shift.weight, 500);
	assert_true(measures_in(rx_of(&c, B))->shift.sum == 104 * 500);
	assert_true(tx_of(&c, A)->paired.call.len <= 1);
	feed_end(&c);
}

static void one_end_may_have_been_seen_opening(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 10, A, 999, 4999);
	feed_send(&c, SENDER, A, 1000, 500, 1000, 1);
	announce(&c, 1500, &(struct end){.sock = B, .received = 500, .isn = 4999, .irs = 999});
	feed_send(&c, SENDER, A, 1500, 300, 2000, 1);
	feed_segment(&c, B, 1500, 300, 2020, 1);
	feed_recv(&c, RECEIVER, B, 1500, 300, 2100, 1);
	assert_true(measures_in(rx_of(&c, B))->shift.sum == 104 * 300);
	feed_end(&c);
}

/* Drops on this machine have spoilt the sender's counters: the receiver's decide. */
static void peer_decides_where_counters_are_ambiguous(void **unused)
{
	struct end x = a;
	struct core c;

	(void)unused;
	x.inflated = true;
	feed_begin(&c, ALL_HOOKS);
	announce(&c, 50, &x);
	assert_true(tx_of(&c, A)->anchor.relative);
	announce(&c, 60, &b);
	transfer(&c, 0, 500, 1000);
	assert_followed(&c, 500);
	feed_end(&c);
}

static void even_when_some_of_its_bytes_have_passed(void **unused)
{
	struct end x = a, y = b;
	struct core c;

	(void)unused;
	x.inflated = true;
	y.received += 300;
	feed_begin(&c, ALL_HOOKS);
	announce(&c, 50, &x);
	feed_send(&c, SENDER, A, 1000 + (uint32_t)LATE, 300, 100, 1);
	ev_enter(&c, 501, SENDER, A, MG_SYS_sendto, 1300 + (uint32_t)LATE);
	ev_send(&c, 502, SENDER, A, 1300 + (uint32_t)LATE, 400, 1300 + (uint32_t)LATE);
	announce(&c, 600, &y); /* in the middle of a call */
	assert_int_equal(tx_of(&c, A)->start, LATE);
	assert_int_equal(tx_of(&c, A)->done, LATE + 300);
	for (uint32_t i = 0; i < 5; i++) {
		static const uint16_t id[] = {
			MG_EVENT_ip_out, MG_EVENT_ip_post, MG_EVENT_dev_queue, MG_EVENT_dev_xmit};

		if (i < 4)
			ev_packet(&c, 610 + i, SENDER, id[i], A, 1300 + (uint32_t)LATE, 400);
		else
			ev_done(&c, 614, SENDER, A, 1300 + (uint32_t)LATE, 400);
	}
	ev_exit(&c, 620, SENDER, A, MG_SYS_sendto, 1700 + (uint32_t)LATE, 400);
	ev_app(&c, SENDER, MG_FN_send, 500, 630, 400);
	feed_segment(&c, B, 1300 + (uint32_t)LATE, 400, 700, 1);
	feed_recv(&c, RECEIVER, B, 1300 + (uint32_t)LATE, 400, 800, 1);
	assert_int_equal(tx_of(&c, A)->complete, 700);
	assert_int_equal(measures_in(rx_of(&c, B))->shift.weight, 400);
	assert_true(measures_in(rx_of(&c, B))->shift.sum == 304 * 400);
	feed_end(&c);
}

/* The same while its bytes are on their way: the causes of their waits move along. */
static void labels_move_along(void **unused)
{
	static const uint16_t id[] = {MG_EVENT_ip_post, MG_EVENT_dev_queue, MG_EVENT_dev_xmit};
	struct end x = a, y = b;
	const struct flow *f;
	struct core c;

	(void)unused;
	x.inflated = true;
	feed_begin(&c, ALL_HOOKS);
	announce(&c, 50, &x);
	ev_enter(&c, 501, SENDER, A, MG_SYS_sendto, 1000 + (uint32_t)LATE);
	ev_send(&c, 502, SENDER, A, 1000 + (uint32_t)LATE, 400, 1000 + (uint32_t)LATE);
	ev_packet(&c, 510, SENDER, MG_EVENT_ip_out, A, 1000 + (uint32_t)LATE, 400);
	ev_exit(&c, 520, SENDER, A, MG_SYS_sendto, 1400 + (uint32_t)LATE, 400);
	ev_app(&c, SENDER, MG_FN_send, 500, 530, 400);
	announce(&c, 600, &y);
	for (uint32_t i = 0; i < 3; i++)
		ev_packet(&c, 610 + i, SENDER, id[i], A, 1000 + (uint32_t)LATE, 400);
	ev_done(&c, 614, SENDER, A, 1000 + (uint32_t)LATE, 400);
	f = tx_of(&c, A);
	assert_int_equal(f->start, LATE);
	assert_int_equal(f->complete, 400);
	assert_int_equal(measures_in(f)->why->rows, 1);
	assert_int_equal(measures_in(f)->why->row[0].reason, WHY_IMMEDIATE);
	assert_int_equal(why_in_flight(f->why, 0)->end, LATE + 400);
	assert_int_equal(measures_in(f)->last_byte.n, 1);
	feed_end(&c);
}

static void other_numbers_are_another_connections(void **unused)
{
	struct end x = a, y = b;
	struct core c;

	(void)unused;
	y.irs = 5; /* the same addresses in an earlier connection */
	feed_begin(&c, ALL_HOOKS);
	announce(&c, 50, &x);
	announce(&c, 60, &y);
	assert_null(sock_find(&c, A)->peer);
	feed_end(&c);
}

static void a_closed_connection_is_nobodys_peer(void **unused)
{
	struct end x = a;
	struct core c;

	(void)unused;
	x.inflated = true;
	feed_begin(&c, ALL_HOOKS);
	announce(&c, 50, &x);
	ev_closed(&c, 55, A);
	announce(&c, 60, &b);
	assert_null(sock_find(&c, B)->peer);
	feed_end(&c);
}

/* Each namespace has a loopback of its own. */
static void loopback_ends_in_its_namespace(void **unused)
{
	struct end x = a, y = b;
	struct core c;

	(void)unused;
	x.inflated = true;
	x.loopback = y.loopback = true;
	feed_begin(&c, ALL_HOOKS);
	announce(&c, 50, &x);
	announce(&c, 60, &y);
	assert_null(sock_find(&c, A)->peer);
	feed_end(&c);
}

/* Bytes written before are sent during the recording, but do not count. */
static void bytes_written_before_do_not_count(void **unused)
{
	struct end x = a;
	const struct flow *f;
	struct core c;

	(void)unused;
	x.unsent = 1000;
	feed_begin(&c, ALL_HOOKS);
	announce(&c, 50, &x);
	for (uint32_t i = 0; i < 2; i++) {
		ev_packet(&c, 100 + i, 0, MG_EVENT_ip_out, A, 1000 + (uint32_t)LATE + i * 500, 500);
		ev_packet(
			&c, 110 + i, 0, MG_EVENT_dev_xmit, A, 1000 + (uint32_t)LATE + i * 500, 500);
	}
	feed_send(&c, SENDER, A, 2000 + (uint32_t)LATE, 300, 1000, 1);
	f = tx_of(&c, A);
	assert_int_equal(f->start, LATE + 1000);
	assert_int_equal(f->complete, 300);
	assert_int_equal(f->incomplete, 0);
	assert_int_equal(measures_in(f)->units[TX_IP_OUT].again, 0);
	feed_end(&c);
}

/* TCP Fast Open: the SYN carries 400 bytes, which the first call reports. */
static void data_in_a_syn_are_the_first_bytes(void **unused)
{
	struct mg_event e;
	struct core c;

	(void)unused;
	feed_begin(&c, "sys_enter,sys_exit,tcp_send,ip_out,dev_xmit");
	ev_enter(&c, 1001, SENDER, A, MG_SYS_sendto, 0);
	e = feed_event(MG_EVENT_sock_state, 1002, SENDER);
	e.sock_state = (struct mg_sock_state){.sock = A, .old = 7, .now = 2};
	feed(&c, &e);
	for (uint32_t i = 0; i < 2; i++) {
		e = feed_event(i ? MG_EVENT_dev_xmit : MG_EVENT_ip_out, 1003 + i, SENDER);
		e.packet.sock = A;
		e.packet.seq = 999;
		e.packet.len = 400;
		e.packet.tcp_flags = 2;
		feed(&c, &e);
	}
	e = feed_event(MG_EVENT_sock_open, 1500, 0);
	e.sock_open = (struct mg_sock_open){.sock = A,
		.bytes_acked = 401,
		.snd_una = 1400,
		.snd_nxt = 1400,
		.rcv_nxt = 5000,
		.sent_once = 400};
	feed(&c, &e);
	e = feed_event(MG_EVENT_sock_state, 1501, 0);
	e.sock_state = (struct mg_sock_state){
		.sock = A, .write_seq = 1400, .rcv_nxt = 5000, .old = 2, .now = 1, .opener = 1};
	feed(&c, &e);
	/* the rest is copied as usual */
	ev_send(&c, 1600, SENDER, A, 1400, 200, 1400);
	ev_exit(&c, 1700, SENDER, A, MG_SYS_sendto, 1600, 600);
	ev_app(&c, SENDER, MG_FN_sendto, 1000, 1800, 600);
	ev_packet(&c, 1900, 0, MG_EVENT_ip_out, A, 1400, 200);
	ev_packet(&c, 1901, 0, MG_EVENT_dev_xmit, A, 1400, 200);
	core_finish(&c);
	assert_int_equal(tx_of(&c, A)->start, 0);
	assert_int_equal(tx_of(&c, A)->complete, 600);
	assert_int_equal(tx_of(&c, A)->total, 600);
	assert_true(measures_in(tx_of(&c, A))->shift.sum == 4 * 400 + 901 * 200);
	assert_int_equal(sock_find(&c, A)->ends.isn, 999);
	feed_end(&c);
}

/* The receiver had no socket when the SYN came: the bytes have their offsets, but no times. */
static void data_in_a_syn_have_no_times_at_the_receiver(void **unused)
{
	struct mg_event e;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	e = feed_event(MG_EVENT_sock_open, 1500, 0);
	e.sock_open = (struct mg_sock_open){.sock = B,
		.bytes_received = 400,
		.snd_una = 5000,
		.snd_nxt = 5000,
		.rcv_nxt = 1400};
	feed(&c, &e);
	e = feed_event(MG_EVENT_sock_state, 1501, 0);
	e.sock_state = (struct mg_sock_state){
		.sock = B, .write_seq = 5000, .rcv_nxt = 1400, .old = 3, .now = 1, .opener = 2};
	feed(&c, &e);
	feed_segment(&c, B, 1400, 200, 2000, 1);
	feed_recv(&c, RECEIVER, B, 1000, 600, 3000, 1);
	assert_int_equal(rx_of(&c, B)->start, 0);
	assert_int_equal(rx_of(&c, B)->total, 600);
	assert_int_equal(rx_of(&c, B)->complete, 200);
	assert_int_equal(rx_of(&c, B)->incomplete, 400);
	assert_int_equal(sock_find(&c, B)->ends.irs, 999);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(their_counters_tell_who_belongs_together),
		cmocka_unit_test(a_read_that_waits_at_the_end_holds_nothing_up),
		cmocka_unit_test(bytes_count_from_when_both_are_met),
		cmocka_unit_test(one_end_may_have_been_seen_opening),
		cmocka_unit_test(peer_decides_where_counters_are_ambiguous),
		cmocka_unit_test(even_when_some_of_its_bytes_have_passed),
		cmocka_unit_test(labels_move_along),
		cmocka_unit_test(other_numbers_are_another_connections),
		cmocka_unit_test(a_closed_connection_is_nobodys_peer),
		cmocka_unit_test(loopback_ends_in_its_namespace),
		cmocka_unit_test(bytes_written_before_do_not_count),
		cmocka_unit_test(data_in_a_syn_are_the_first_bytes),
		cmocka_unit_test(data_in_a_syn_have_no_times_at_the_receiver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
