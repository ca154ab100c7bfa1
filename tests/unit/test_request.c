/* SPDX-License-Identifier: MIT */
/*
 * Data that complete a handshake: they arrive for a request, before it has a socket. The server's
 * ISN is 999, and the client's 4999, so that byte 0 is number 5000.
 */
#include "socket/anchor.h"
#include "feed.h"

#define TID     10
#define SOCK    1
#define OTHER   2
#define REQUEST (MG_REQUEST_ID | 77)
#define ANOTHER (MG_REQUEST_ID | 78)

static void packet(struct core *c, uint64_t t, uint16_t id, uint64_t request, uint32_t seq,
	uint32_t len, uint32_t ack)
{
	struct mg_event e = feed_event(id, t, 0);

	e.packet.sock = request;
	e.packet.seq = seq;
	e.packet.len = len;
	e.packet.ack = ack;
	e.packet.headers = 54;
	e.packet.segs = 1;
	e.packet.tcp_flags = 16;
	feed(c, &e);
}

/* A segment arrives for a request: at `t` at the device, at `t` + 100 at IP. */
static void arrive(
	struct core *c, uint64_t t, uint64_t request, uint32_t seq, uint32_t len, uint32_t ack)
{
	packet(c, t, MG_EVENT_dev_recv, request, seq, len, ack);
	packet(c, t + 100, MG_EVENT_ip_in, request, seq, len, ack);
}

static void assert_followed(struct core *c, uint64_t sock, uint64_t bytes)
{
	const struct flow *f = rx_of(c, sock);

	assert_int_equal(f->total, bytes);
	assert_int_equal(f->complete, bytes);
	assert_int_equal(f->incomplete, 0);
	assert_int_equal(f->handshake.unseen, 0);
	assert_int_equal(measures_in(f)->units[RX_DEV].bytes, bytes);
	assert_int_equal(measures_in(f)->units[RX_IP].bytes, bytes);
}

/* Feeds data whose first byte is at the device at 2000, and so on; TCP has no event of its own. */
static void exchange(struct core *c)
{
	arrive(c, 2000, REQUEST, 5000, 600, 1000);
	feed_accepted(c, 2120, SOCK, 999, 4999);
	ev_ready(c, 2130, SOCK, 5600);
	feed_segment(c, SOCK, 5600, 400, 3000, 100);
	feed_recv(c, TID, SOCK, 5000, 1000, 9000, 100);
}

static void assert_exchange(struct core *c)
{
	const struct flow *f = rx_of(c, SOCK);

	assert_followed(c, SOCK, 1000);
	assert_int_equal(stage_sum(f, RX_STAGE_DEV_IP), 100 * 1000);
	assert_int_equal(stage_sum(f, RX_STAGE_IP_TCP), 30 * 600 + 200 * 400);
	assert_int_equal(stage_sum(f, RX_STAGE_ORDER), 0);
	assert_int_equal(measures_in(f)->units[RX_TCP].bytes, 400);
}

static void data_may_complete_the_handshake(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	exchange(&c);
	assert_exchange(&c);
	assert_null(c.requests.waiting);
	feed_end(&c);
}

struct seen {
	int of_sock, at_begin;
};

static void see(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct seen *seen = arg;

	if ((e->id != MG_EVENT_dev_recv && e->id != MG_EVENT_ip_in) || !a->sock ||
		a->sock->cookie != SOCK || !a->rx)
		return;
	seen->of_sock++;
	seen->at_begin += a->has_offset && a->offset == 0 && a->length == 600;
}

/* Events wait for the clock: then their socket is known when they are passed on. */
static void listeners_get_the_socket_of_each_event(void **unused)
{
	struct seen seen = {0, 0};
	struct core c;

	(void)unused;
	core_init(&c);
	figures_attach(&c);
	core_listen(&c, see, &seen);
	ev_sync(&c, 1, 1, 0);
	exchange(&c);
	ev_sync(&c, 50000000, 50000000, 0);
	assert_exchange(&c);
	assert_int_equal(seen.of_sock, 4);
	assert_int_equal(seen.at_begin, 2);
	feed_end(&c);
}

static void each_becomes_its_own_socket(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	arrive(&c, 2000, REQUEST, 5000, 600, 1000);
	arrive(&c, 2200, ANOTHER, 8000, 300, 70000);
	feed_accepted(&c, 2420, OTHER, 69999, 7999);
	ev_ready(&c, 2430, OTHER, 8300);
	feed_accepted(&c, 2520, SOCK, 999, 4999);
	ev_ready(&c, 2530, SOCK, 5600);
	feed_recv(&c, TID, OTHER, 8000, 300, 9000, 100);
	feed_recv(&c, TID, SOCK, 5000, 600, 10000, 100);
	assert_followed(&c, SOCK, 600);
	assert_followed(&c, OTHER, 300);
	feed_end(&c);
}

/* The listener's queue was full: no event says that the first copies were dropped. */
static void bytes_received_twice_are_in_no_stage(void **unused)
{
	struct mg_event drop = feed_event(MG_EVENT_drop, 2110, 0);
	const struct flow *f;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	arrive(&c, 2000, REQUEST, 5000, 600, 1000);
	drop.drop = (struct mg_drop){.sock = REQUEST, .seq = 5000, .len = 600, .segs = 1, .rx = 1};
	feed(&c, &drop);
	arrive(&c, 202000, REQUEST, 5000, 600, 1000);
	feed_accepted(&c, 202120, SOCK, 999, 4999);
	ev_ready(&c, 202130, SOCK, 5600);
	feed_recv(&c, TID, SOCK, 5000, 600, 209000, 100);
	f = rx_of(&c, SOCK);
	assert_followed(&c, SOCK, 600);
	assert_int_equal(f->copies.ambiguous, 600);
	assert_int_equal(f->drops.n, 1);
	assert_int_equal(figures_of(&c)->drops->key.sock, SOCK);
	feed_end(&c);
}

static void drop_data(struct core *c, uint64_t t, uint64_t request, const char *reason)
{
	struct mg_event e = feed_event(MG_EVENT_drop, t, 0);

	e.drop = (struct mg_drop){.sock = request, .seq = 5000, .len = 600, .segs = 1, .rx = 1};
	memcpy(e.drop.reason, reason, strlen(reason));
	feed(c, &e);
}

/* Returns how many drops of this reason there are. */
static uint64_t dropped(struct core *c, const char *reason)
{
	const struct drop *d, *tmp;
	uint64_t n = 0;

	HASH_ITER (hh, figures_of(c)->drops, d, tmp) {
		assert_int_equal(d->key.sock, 0);
		if (strcmp(d->key.reason, reason) == 0)
			n += d->n;
	}
	return n;
}

/* Drops wait for their request's socket. If there will be none, they are drops all the same. */
static void drops_of_a_request_without_a_socket_are_told(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	arrive(&c, 2000, REQUEST, 5000, 600, 1000);
	drop_data(&c, 2110, REQUEST, "ITS_NUMBER_IS_USED_AGAIN");
	arrive(&c, 3000, REQUEST, 5000, 600, 70000);
	assert_int_equal(dropped(&c, "ITS_NUMBER_IS_USED_AGAIN"), 1);
	for (uint32_t i = 0; i < 100; i++) /* more than are kept */
		drop_data(&c, 3110 + i, REQUEST, "ITS_QUEUE_IS_FULL");
	drop_data(&c, 3500, ANOTHER, "IT_WAS_NOT_SEEN_BEFORE");
	assert_int_equal(dropped(&c, "IT_WAS_NOT_SEEN_BEFORE"), 1);
	arrive(&c, 4000, ANOTHER, 5000, 600, 1000);
	drop_data(&c, 4110, ANOTHER, "IT_IS_ONE_OF_TOO_MANY");
	for (uint32_t i = 0; i < 5000; i++)
		arrive(&c, 10000 + 200 * i, MG_REQUEST_ID + 1000 + i, 5000, 1, 3000000 + i);
	assert_int_equal(dropped(&c, "IT_IS_ONE_OF_TOO_MANY"), 1);
	drop_data(&c, 3000000, MG_REQUEST_ID + 5999, "THE_RECORDING_ENDS");
	assert_int_equal(dropped(&c, "THE_RECORDING_ENDS"), 0);
	assert_int_equal(core_finish(&c), 0);
	assert_int_equal(dropped(&c, "THE_RECORDING_ENDS"), 1);
	assert_int_equal(dropped(&c, "ITS_QUEUE_IS_FULL"), 100);
	feed_end(&c);
}

/* The same addresses and ports, and so the same number. */
static void one_may_follow_another(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	exchange(&c);
	ev_closed(&c, 20000, SOCK);
	arrive(&c, 30000, REQUEST, 8000, 300, 70000);
	feed_accepted(&c, 30120, OTHER, 69999, 7999);
	ev_ready(&c, 30130, OTHER, 8300);
	feed_recv(&c, TID, OTHER, 8000, 300, 39000, 100);
	assert_exchange(&c);
	assert_followed(&c, OTHER, 300);
	feed_end(&c);
}

static void request_without_a_socket_has_no_owner(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	arrive(&c, 2000, REQUEST, 5000, 600, 1000);
	feed_accepted(&c, 2120, SOCK, 499, 4999);
	feed_accepted(&c, 2130, OTHER, 999, 3999);
	assert_int_equal(measures_in(rx_of(&c, SOCK))->units[RX_DEV].n, 0);
	assert_int_equal(HASH_COUNT(c.sockets.socks), 2);
	for (uint32_t i = 0; i < 10000; i++) /* only the latest are kept */
		arrive(&c, 10000 + 200 * i, MG_REQUEST_ID + i, 5000, 1, 3000000 + i);
	feed_accepted(&c, 3000000, 3, 3000000 - 1, 4999);
	feed_accepted(&c, 3000010, 4, 3000000 + 9998, 4999);
	assert_int_equal(measures_in(rx_of(&c, 3))->units[RX_DEV].n, 0);
	assert_int_equal(measures_in(rx_of(&c, 4))->units[RX_DEV].n, 1);
	feed_end(&c);
}

/* Fast Open: 100 bytes in the SYN, and the rest completes the handshake. */
static void data_in_the_syn_are_reported(void **unused)
{
	struct mg_event open = feed_event(MG_EVENT_sock_open, 2110, 0);
	const struct flow *f;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	arrive(&c, 2000, REQUEST, 5100, 500, 1000);
	open.sock_open = (struct mg_sock_open){.sock = SOCK,
		.bytes_received = 100,
		.snd_una = 1000,
		.snd_nxt = 1000,
		.rcv_nxt = 5100};
	feed(&c, &open);
	feed_accepted(&c, 2120, SOCK, 999, 5099);
	ev_ready(&c, 2130, SOCK, 5600);
	feed_recv(&c, TID, SOCK, 5000, 600, 9000, 100);
	f = rx_of(&c, SOCK);
	assert_int_equal(f->complete, 500);
	assert_int_equal(f->incomplete, 100);
	assert_int_equal(f->handshake.unseen, 100);
	feed_end(&c);
}

/* Such segments are shown, but move no byte, and no socket is looked for. */
static void a_handshake_without_data_moves_nothing(void **unused)
{
	struct core c;
	struct mg_event e;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	e = feed_event(MG_EVENT_dev_recv, 1000, 0);
	e.packet = (struct mg_packet){
		.sock = REQUEST, .seq = 4999, .headers = 60, .segs = 1, .tcp_flags = 2, .proto = 6};
	feed(&c, &e);
	e = feed_event(MG_EVENT_dev_xmit, 1010, 0);
	e.packet = (struct mg_packet){.sock = REQUEST,
		.seq = 999,
		.ack = 5000,
		.headers = 74,
		.segs = 1,
		.tcp_flags = 18,
		.proto = 6};
	feed(&c, &e);
	e = feed_event(MG_EVENT_dev_done, 1011, 0);
	e.dev_done = (struct mg_dev_done){.sock = REQUEST, .seq = 1000, .segs = 1};
	feed(&c, &e);
	arrive(&c, 1020, REQUEST, 5000, 0, 1000);
	assert_null(c.requests.waiting);
	exchange(&c);
	assert_exchange(&c);
	assert_int_equal(measures_in(tx_of(&c, SOCK))->units[TX_XMIT].n, 0);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(data_may_complete_the_handshake),
		cmocka_unit_test(a_handshake_without_data_moves_nothing),
		cmocka_unit_test(listeners_get_the_socket_of_each_event),
		cmocka_unit_test(each_becomes_its_own_socket),
		cmocka_unit_test(bytes_received_twice_are_in_no_stage),
		cmocka_unit_test(one_may_follow_another),
		cmocka_unit_test(request_without_a_socket_has_no_owner),
		cmocka_unit_test(data_in_the_syn_are_reported),
		cmocka_unit_test(drops_of_a_request_without_a_socket_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
