/* SPDX-License-Identifier: MIT */
/* Sockets without sequence numbers: packets at each layer, each counted once. */
#include "feed.h"
#include "reported.h"

#define UDP_SOCK ((1ull << 62) + 4711)
#define PEER     ((1ull << 62) + 4712)
#define ME       10
#define UDP      17

static void ev_new(struct core *c, uint64_t t, uint64_t sock, uint64_t peer, int kind)
{
	struct mg_event e = feed_event(MG_EVENT_sock_new, t, ME);

	e.sock_new = (struct mg_sock_new){.sock = sock,
		.peer = peer,
		.netns = 1,
		.lport = 53,
		.family = 2,
		.kind = (uint8_t)kind};
	feed(c, &e);
}

static struct mg_event packet(uint16_t id, uint64_t t, uint32_t len, uint16_t segs)
{
	struct mg_event e = feed_event(id, t, ME);

	e.packet = (struct mg_packet){
		.sock = UDP_SOCK, .len = len, .headers = 42, .segs = segs, .proto = UDP};
	return e;
}

static void ev_datagram(struct core *c, uint16_t id, uint64_t t, uint32_t len, uint16_t segs)
{
	struct mg_event e = packet(id, t, len, segs);

	feed(c, &e);
}

static void ev_away(struct core *c, uint16_t id, uint64_t t, uint8_t via)
{
	struct mg_event e = packet(id, t, 100, 1);

	e.packet.via = via;
	feed(c, &e);
}

static void ev_moved(struct core *c, uint16_t id, uint64_t t, int32_t ret, uint32_t flags)
{
	struct mg_event e = feed_event(id, t, ME);

	e.sock_moved = (struct mg_sock_moved){
		.sock = UDP_SOCK, .ret = ret, .flags = flags, .kind = MG_KIND_udp};
	feed(c, &e);
}

static void ev_call(struct core *c, uint64_t t, int call, uint32_t flags, int64_t ret)
{
	struct mg_event e = feed_event(MG_EVENT_sys_enter, t, ME);

	e.sys_enter = (struct mg_sys_enter){
		.sock = UDP_SOCK, .flags = flags, .call = (uint16_t)call, .kind = MG_KIND_udp};
	feed(c, &e);
	ev_exit(c, t + 10, ME, UDP_SOCK, call, 0, ret);
}

static const struct unit_stats *sent_at(const struct core *c, int layer)
{
	return &measures_in(tx_of(c, UDP_SOCK))->units[layer];
}

static void each_layer_counts_what_passed_it(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_new(&c, 10, UDP_SOCK, 0, MG_KIND_udp);
	ev_datagram(&c, MG_EVENT_ip_out, 110, 3000, 1);
	ev_datagram(&c, MG_EVENT_dev_xmit, 120, 1472, 1); /* fragments */
	ev_datagram(&c, MG_EVENT_dev_xmit, 121, 1480, 1);
	ev_datagram(&c, MG_EVENT_dev_xmit, 122, 48, 1);
	ev_moved(&c, MG_EVENT_sock_sent, 130, 3000, 0);
	ev_call(&c, 140, MG_SYS_sendto, 0, 3000);
	core_finish(&c);
	assert_int_equal(sent_at(&c, TX_CALL)->n, 1);
	assert_int_equal(sent_at(&c, TX_COPY)->bytes, 3000);
	assert_int_equal(sent_at(&c, TX_IP_OUT)->n, 1);
	assert_int_equal(sent_at(&c, TX_XMIT)->n, 3);
	assert_int_equal(sent_at(&c, TX_XMIT)->frames, 3);
	assert_int_equal(sent_at(&c, TX_XMIT)->wire_bytes, 3000 + 3 * 42);
	assert_int_equal(tx_of(&c, UDP_SOCK)->total, 3000);
	feed_end(&c);
}

static void super_segments_count_as_frames_too(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_new(&c, 10, UDP_SOCK, 0, MG_KIND_udp);
	ev_datagram(&c, MG_EVENT_dev_xmit, 100, 5000, 10);
	ev_datagram(&c, MG_EVENT_dev_xmit, 200, 500, 1);
	j = reported(&c);
	assert_number_at(j, "flows.0.layers.0.n", 2);
	assert_number_at(j, "flows.0.layers.0.frames", 11);
	assert_number_at(j, "flows.0.bytes", 5500);
	assert_null_at(j, "flows.0.coverage");
	json_decref(j);
}

/* Peeked bytes come again, and bytes on the error queue are those that were sent. */
static void peeked_datagrams_are_not_received(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_new(&c, 10, UDP_SOCK, 0, MG_KIND_udp);
	ev_moved(&c, MG_EVENT_sock_received, 100, 700, 0x2);
	ev_moved(&c, MG_EVENT_sock_received, 110, 700, 0x2000);
	ev_moved(&c, MG_EVENT_sock_received, 120, -11, 0);
	ev_moved(&c, MG_EVENT_sock_received, 130, 700, 0);
	core_finish(&c);
	assert_int_equal(measures_in(rx_of(&c, UDP_SOCK))->units[RX_COPY].n, 1);
	assert_int_equal(rx_of(&c, UDP_SOCK)->total, 700);
	feed_end(&c);
}

static void a_look_into_the_queue_is_no_call_that_moves(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_new(&c, 10, UDP_SOCK, 0, MG_KIND_udp);
	ev_call(&c, 100, MG_SYS_recvfrom, 0x2, 700);
	ev_call(&c, 120, MG_SYS_recvfrom, 0, 700);
	core_finish(&c);
	assert_int_equal(measures_in(rx_of(&c, UDP_SOCK))->units[RX_CALL].n, 1);
	assert_int_equal(measures_in(rx_of(&c, UDP_SOCK))->units[RX_CALL].bytes, 700);
	assert_int_equal(figures_of(&c)->calls.calls->n, 2);
	assert_int_equal(figures_of(&c)->calls.calls->bytes, 700);
	feed_end(&c);
}

static void elsewhere_is_no_layer_of_its_own(void **unused)
{
	struct mg_event done = feed_event(MG_EVENT_dev_done, 130, ME);
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_new(&c, 10, UDP_SOCK, 0, MG_KIND_udp);
	ev_datagram(&c, MG_EVENT_dev_xmit, 100, 100, 1);
	ev_away(&c, MG_EVENT_dev_recv, 110, 1);
	ev_away(&c, MG_EVENT_ip_forward, 115, 1);
	ev_away(&c, MG_EVENT_dev_xmit, 120, 1);
	done.dev_done = (struct mg_dev_done){.sock = UDP_SOCK, .len = 100, .segs = 1, .via = 1};
	feed(&c, &done);
	core_finish(&c);
	assert_int_equal(sent_at(&c, TX_XMIT)->n, 1);
	assert_int_equal(sent_at(&c, TX_DONE)->n, 0);
	assert_int_equal(measures_in(rx_of(&c, UDP_SOCK))->units[RX_DEV].n, 0);
	feed_end(&c);
}

/* Empty datagrams make a flow without bytes. */
static void empty_datagrams_are_told(void **unused)
{
	struct core c;
	json_t *j;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_new(&c, 10, UDP_SOCK, 0, MG_KIND_udp);
	for (uint64_t t = 100; t < 105; t++)
		ev_datagram(&c, MG_EVENT_dev_xmit, t, 0, 1);
	j = reported(&c);
	assert_int_equal(json_array_size(at(j, "flows")), 1);
	assert_number_at(j, "flows.0.layers.0.n", 5);
	assert_number_at(j, "flows.0.bytes", 0);
	json_decref(j);
}

static void a_packet_tells_what_its_socket_is(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_datagram(&c, MG_EVENT_dev_recv, 100, 64, 1); /* not announced */
	core_finish(&c);
	assert_int_equal(rx_of(&c, UDP_SOCK)->sock->kind, MG_KIND_udp);
	assert_int_equal(rx_of(&c, UDP_SOCK)->total, 64);
	feed_end(&c);
}

static void copy_with_several_candidates_goes_to_none(void **unused)
{
	struct mg_event e = packet(MG_EVENT_dev_recv, 100, 64, 1);
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	e.packet.sock = 0;
	feed(&c, &e);
	core_finish(&c);
	assert_int_equal(HASH_COUNT(c.sockets.socks), 0);
	feed_end(&c);
}

static void ends_of_a_pair_know_each_other(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_new(&c, 10, UDP_SOCK, 0, MG_KIND_unix_stream); /* the other is not known yet */
	ev_new(&c, 20, PEER, UDP_SOCK, MG_KIND_unix_stream);
	core_finish(&c);
	assert_ptr_equal(tx_of(&c, UDP_SOCK)->sock->peer, tx_of(&c, PEER)->sock);
	assert_ptr_equal(tx_of(&c, PEER)->sock->peer, tx_of(&c, UDP_SOCK)->sock);
	feed_end(&c);
}

static void ev_peer(struct core *c, bool rx, uint8_t last, uint16_t port)
{
	struct mg_event e = feed_event(MG_EVENT_sock_peer, 20, 0);

	e.sock_peer = (struct mg_sock_peer){.sock = 77, .port = port, .rx = rx};
	e.sock_peer.addr[15] = last;
	feed(c, &e);
}

static void a_socket_s_far_ends_are_told_for_each_direction(void **unused)
{
	const struct far_end *far;
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_peer(&c, true, 1, 53);
	ev_peer(&c, true, 1, 53); /* announced again: the same one */
	ev_peer(&c, false, 1, 53);
	ev_peer(&c, false, 2, 53);
	far = tx_of(&c, 77)->sock->far;
	assert_true(far[1].known && !far[1].several);
	assert_int_equal(far[1].addr[15], 1);
	assert_int_equal(far[1].port, 53);
	assert_true(far[0].known && far[0].several);
	assert_int_equal(far[0].addr[15], 1); /* the first */
	core_finish(&c);
	core_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_layer_counts_what_passed_it),
		cmocka_unit_test(super_segments_count_as_frames_too),
		cmocka_unit_test(peeked_datagrams_are_not_received),
		cmocka_unit_test(a_look_into_the_queue_is_no_call_that_moves),
		cmocka_unit_test(elsewhere_is_no_layer_of_its_own),
		cmocka_unit_test(empty_datagrams_are_told),
		cmocka_unit_test(a_packet_tells_what_its_socket_is),
		cmocka_unit_test(copy_with_several_candidates_goes_to_none),
		cmocka_unit_test(ends_of_a_pair_know_each_other),
		cmocka_unit_test(a_socket_s_far_ends_are_told_for_each_direction),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
