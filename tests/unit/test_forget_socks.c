/* SPDX-License-Identifier: MIT */
/* Sockets whose end is not recorded, in a recording that is read for as long as it is made. */
#include "call/forget_socks.h"
#include "facts/facts.h"
#include "feed_datagrams.h"

#define SECOND 1000000000ull
#define FIRST  ((1ull << 62) + 1000) /* the short-lived ones */
#define ROUND  600                   /* of them a second */
#define ROUNDS 30
/* those that were idle for less stay */
#define ENOUGH  (IDLE_KEPT + (IDLE_NS / SECOND + 2) * ROUND)
#define UNIX(i) ((i) % 2)

static void is_new(struct core *c, uint64_t t, uint64_t sock, uint64_t peer, int kind)
{
	struct mg_event e = feed_event(MG_EVENT_sock_new, t, SEND);

	e.sock_new = (struct mg_sock_new){
		.sock = sock, .peer = peer, .netns = 1, .lport = 53, .kind = (uint8_t)kind};
	feed(c, &e);
}

/* A datagram leaves, whose frame stays known until its buffer is used again. */
static void sends(struct core *c, uint64_t t, uint64_t sock, uint32_t buffer)
{
	struct mg_event e = feed_event(MG_EVENT_dev_xmit, t + 2, SEND);

	dg_enter(c, t, SEND, sock, MG_SYS_sendto, MG_KIND_udp);
	e.packet = (struct mg_packet){
		.sock = sock, .seq = buffer, .len = 10, .headers = 42, .segs = 1, .proto = UDP};
	feed(c, &e);
	dg_moved(c, MG_EVENT_sock_sent, t + 3, SEND, sock, 10, 0, MG_KIND_udp);
	ev_exit(c, t + 4, SEND, sock, MG_SYS_sendto, 0, 10);
	ev_app(c, SEND, MG_FN_sendto, t - 1, t + 5, 10);
}

/* A message is queued at the peer, which never reads it. */
static void writes(struct core *c, uint64_t t, uint64_t from, uint64_t to, uint32_t buffer)
{
	dg_enter(c, t, SEND, from, MG_SYS_write, MG_KIND_unix_stream);
	dg_ready(c, t + 1, SEND, to, buffer, 10, MG_KIND_unix_stream);
	dg_moved(c, MG_EVENT_sock_sent, t + 2, SEND, from, 10, 0, MG_KIND_unix_stream);
	ev_exit(c, t + 3, SEND, from, MG_SYS_write, 0, 10);
	ev_app(c, SEND, MG_FN_write, t - 1, t + 4, 10);
}

/* One socket, or a pair, of which the recording has no end. */
static void lives_shortly(struct core *c, uint64_t t, uint32_t i)
{
	uint64_t sock = FIRST + 2 * i;

	if (!UNIX(i)) {
		is_new(c, t, sock, 0, MG_KIND_udp);
		sends(c, t + 10, sock, i);
		return;
	}
	is_new(c, t, sock, 0, MG_KIND_unix_stream);
	is_new(c, t + 1, sock + 1, sock, MG_KIND_unix_stream);
	writes(c, t + 10, sock, sock + 1, i);
}

/* Returns the largest number of sockets that the core had at a time. */
static size_t many_live(struct core *c)
{
	size_t most = 0;

	for (uint32_t i = 0; i < ROUND * ROUNDS; i++) {
		uint64_t t = SECOND + (uint64_t)i * (SECOND / ROUND);

		lives_shortly(c, t, i);
		if (i % (ROUND / 10) == 0)
			ev_sync(c, t + 100, t + 100, 0);
		if (core_sock_count(c) > most)
			most = core_sock_count(c);
	}
	return most;
}

static bool knows(const struct core *c, uint64_t sock)
{
	const struct mg_sock *s = NULL;

	HASH_FIND(hh, c->sockets.socks, &sock, sizeof(sock), s);
	return s;
}

/* A pair counts twice: there are ROUND / 2 of them, and as many other sockets. */
static void those_idle_longest_are_forgotten(void **unused)
{
	static struct core c;
	size_t most;

	(void)unused;
	feed_begin_live(&c, true);
	most = many_live(&c);
	assert_true(most > IDLE_KEPT);
	assert_true(most <= ENOUGH * 3 / 2);
	assert_false(knows(&c, FIRST) || knows(&c, FIRST + 2) || knows(&c, FIRST + 3));
	assert_true(knows(&c, FIRST + 2 * (ROUND * ROUNDS - 1)));
	feed_end(&c);
}

static void all_stay_where_nobody_asked(void **unused)
{
	static struct core c;

	(void)unused;
	feed_begin_live(&c, false);
	assert_int_equal(many_live(&c), ROUND * ROUNDS / 2 * 3);
	assert_true(knows(&c, FIRST));
	feed_end(&c);
}

/* A server that waits in a call, and one that is used now and then, are older than all. */
static void those_in_use_stay(void **unused)
{
	static struct core c;

	(void)unused;
	feed_begin_live(&c, true);
	is_new(&c, 10, A, 0, MG_KIND_udp);
	is_new(&c, 20, B, 0, MG_KIND_udp);
	dg_enter(&c, 30, READ, B, MG_SYS_recvfrom, MG_KIND_udp);
	for (uint32_t i = 0; i < ROUND * ROUNDS; i++) {
		uint64_t t = SECOND + (uint64_t)i * (SECOND / ROUND);

		lives_shortly(&c, t, i);
		if (i % (ROUND / 10) == 0)
			ev_sync(&c, t + 100, t + 100, 0);
		if (i % (5 * ROUND) == 0)
			sends(&c, t + 200, A, ROUND * ROUNDS + i);
	}
	assert_false(knows(&c, FIRST));
	assert_true(knows(&c, A));
	assert_true(knows(&c, B));
	feed_end(&c);
}

/* The reply to a message that is still on its way must find who sent it. */
static void a_sender_stays_while_its_message_is_not_read(void **unused)
{
	static struct core c;

	(void)unused;
	feed_begin_live(&c, true);
	is_new(&c, 10, A, 0, MG_KIND_unix_dgram);
	is_new(&c, 20, B, 0, MG_KIND_unix_dgram);
	dg_enter(&c, 30, READ, B, MG_SYS_recvfrom, MG_KIND_unix_dgram);
	dg_puts_in(&c, 1000, 7, (uint32_t[]){100}, 1, 100, MG_KIND_unix_dgram);
	many_live(&c);
	assert_false(knows(&c, FIRST));
	assert_true(knows(&c, A));
	assert_true(knows(&c, B));
	feed_end(&c);
}

/* An address may be used again by another socket, or the same one wakes up. */
static void a_forgotten_one_may_come_back(void **unused)
{
	static struct core c;
	const struct mg_sock *s = NULL;
	uint64_t sock = FIRST;

	(void)unused;
	feed_begin_live(&c, true);
	many_live(&c);
	assert_false(knows(&c, sock));
	sends(&c, 60 * SECOND, sock, 3);
	HASH_FIND(hh, c.sockets.socks, &sock, sizeof(sock), s);
	assert_int_equal(s->kind, MG_KIND_udp);
	assert_int_equal(s->tx.use.calls, 1);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_idle_longest_are_forgotten),
		cmocka_unit_test(all_stay_where_nobody_asked),
		cmocka_unit_test(those_in_use_stay),
		cmocka_unit_test(a_sender_stays_while_its_message_is_not_read),
		cmocka_unit_test(a_forgotten_one_may_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
