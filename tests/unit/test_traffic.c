/* SPDX-License-Identifier: MIT */
/* Segments of a handshake belong to the socket that their request became. */
#include "capture/traffic.h"
#include "feed.h"

#define FIRST   1 /* sockets of two connections with the same ends, one after the other */
#define SECOND  2
#define REQUEST (MG_REQUEST_ID | 77)
#define REFUSED (MG_REQUEST_ID | 78)
#define SYN     2
#define ACK     16

static void packet(struct core *c, uint64_t t, uint16_t id, uint64_t request, uint8_t flags,
	uint32_t seq, uint32_t ack, uint32_t len)
{
	struct mg_event e = feed_event(id, t, 0);

	e.packet = (struct mg_packet){.sock = request,
		.seq = seq,
		.ack = ack,
		.len = len,
		.segs = 1,
		.tcp_flags = flags,
		.proto = 6};
	feed(c, &e);
}

/* SYN, SYN-ACK and ACK of a request at t, t + 10 and t + 20. */
static void handshake(struct core *c, uint64_t t, uint32_t isn, uint32_t irs)
{
	packet(c, t, MG_EVENT_dev_recv, REQUEST, SYN, irs, 0, 0);
	packet(c, t + 10, MG_EVENT_dev_xmit, REQUEST, SYN | ACK, isn, irs + 1, 0);
	packet(c, t + 20, MG_EVENT_dev_recv, REQUEST, ACK, irs + 1, isn + 1, 0);
}

static void begin(struct core *c, struct traffic *t)
{
	feed_begin(c, ALL_HOOKS);
	memset(t, 0, sizeof(*t));
	t->packets_only = true;
	traffic_listen(t, c);
}

static void end(struct core *c, struct traffic *t)
{
	traffic_free(t);
	feed_end(c);
}

static void each_is_of_its_own_connection(void **unused)
{
	static struct core c;
	static struct traffic t;

	(void)unused;
	begin(&c, &t);
	handshake(&c, 1000, 999, 4999);
	feed_accepted(&c, 1030, FIRST, 999, 4999);
	ev_closed(&c, 1500, FIRST);
	handshake(&c, 2000, 88999, 77999);
	feed_accepted(&c, 2030, SECOND, 88999, 77999);
	assert_int_equal(core_finish(&c), 0);
	traffic_finish(&t);
	assert_int_equal(t.packets, 6);
	assert_int_equal(t.unknown, 0);
	for (int i = 0; i < 6; i++)
		assert_int_equal(t.packet[i].sock, i < 3 ? FIRST : SECOND);
	end(&c, &t);
}

/* As where the accept queue is full: no socket is made. */
static void one_without_a_socket_is_counted(void **unused)
{
	static struct core c;
	static struct traffic t;

	(void)unused;
	begin(&c, &t);
	packet(&c, 1000, MG_EVENT_dev_recv, REFUSED, SYN, 4999, 0, 0);
	packet(&c, 1010, MG_EVENT_dev_xmit, REFUSED, SYN | ACK, 1, 5000, 0);
	handshake(&c, 2000, 999, 4999);
	feed_accepted(&c, 2030, FIRST, 999, 4999);
	assert_int_equal(core_finish(&c), 0);
	traffic_finish(&t);
	assert_int_equal(t.packets, 3);
	assert_int_equal(t.unknown, 2);
	end(&c, &t);
}

/* The third segment was lost: all data of the request are its socket's. */
static void data_of_a_request_are_its_sockets(void **unused)
{
	static struct core c;
	static struct traffic t;

	(void)unused;
	begin(&c, &t);
	packet(&c, 1000, MG_EVENT_dev_recv, REQUEST, SYN, 4999, 0, 0);
	packet(&c, 1010, MG_EVENT_dev_xmit, REQUEST, SYN | ACK, 999, 5000, 0);
	packet(&c, 1020, MG_EVENT_dev_recv, REQUEST, ACK, 5100, 1000, 100);
	packet(&c, 1030, MG_EVENT_dev_recv, REQUEST, ACK, 5000, 1000, 100);
	feed_accepted(&c, 1040, FIRST, 999, 4999);
	assert_int_equal(core_finish(&c), 0);
	traffic_finish(&t);
	assert_int_equal(t.packets, 4);
	for (int i = 0; i < 4; i++)
		assert_int_equal(t.packet[i].sock, FIRST);
	traffic_free(&t);
	core_free(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_of_its_own_connection),
		cmocka_unit_test(one_without_a_socket_is_counted),
		cmocka_unit_test(data_of_a_request_are_its_sockets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
