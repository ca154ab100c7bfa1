/* SPDX-License-Identifier: MIT */
/* A socket that is connected again: each connection is a socket of its own. */
#include "socket/socket.h"
#include "feed.h"

#define TID    10
#define OTHER  11
#define SOCK   1
#define AGAIN  (SOCK + FLOW_CONNECTION)
#define IRS    4999
#define SECOND 700000000 /* initial sequence number of its second connection */

static void connects(struct core *c, uint64_t t, uint32_t tid)
{
	struct mg_event e = feed_event(MG_EVENT_sock_state, t, tid);

	e.sock_state = (struct mg_sock_state){.sock = SOCK, .old = 7, .now = 2, .opener = 1};
	feed(c, &e);
}

/* Feeds a connection over which it sends and receives 100 bytes. */
static void connection(struct core *c, uint64_t t, uint32_t isn)
{
	ev_opened(c, t, SOCK, isn, IRS);
	feed_send(c, TID, SOCK, isn + 1, 100, t + 1000, 10);
	feed_segment(c, SOCK, IRS + 1, 100, t + 5000, 10);
	feed_recv(c, TID, SOCK, IRS + 1, 100, t + 6000, 10);
	ev_ack(c, t + 8000, SOCK, isn + 101);
	ev_closed(c, t + 9000, SOCK);
}

static void assert_moved(struct core *c, uint64_t sock, uint64_t bytes)
{
	const struct flow *flow[] = {tx_of(c, sock), rx_of(c, sock)};

	for (int i = 0; i < 2; i++) {
		assert_int_equal(flow[i]->start, 0);
		assert_int_equal(flow[i]->total, bytes);
		assert_int_equal(flow[i]->complete, bytes);
		assert_int_equal(flow[i]->incomplete, 0);
	}
}

static void each_connection_has_its_own_bytes(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	connects(&c, 900, TID);
	connection(&c, 1000, 999);
	connects(&c, 19000, TID);
	connection(&c, 20000, SECOND);
	connects(&c, 39000, TID);
	connection(&c, 40000, 77);
	assert_moved(&c, SOCK, 100);
	assert_moved(&c, AGAIN, 100);
	assert_moved(&c, AGAIN + FLOW_CONNECTION, 100);
	feed_end(&c);
}

static void a_connection_may_be_known_once_it_is_established(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	connection(&c, 1000, 999);
	connection(&c, 20000, SECOND);
	assert_moved(&c, SOCK, 100);
	assert_moved(&c, AGAIN, 100);
	feed_end(&c);
}

/* At the begin of each part of a recording; `rcv_nxt` is not known yet. */
static void announced(struct core *c, uint64_t t, uint8_t state)
{
	struct mg_event e = feed_event(MG_EVENT_sock_open, t, 0);

	e.cpu = -1;
	e.sock_open = (struct mg_sock_open){.sock = SOCK, .snd_una = 999, .snd_nxt = 1000};
	feed(c, &e);
	e = feed_event(MG_EVENT_sock_state, t, 0);
	e.cpu = -1;
	e.sock_state = (struct mg_sock_state){.sock = SOCK, .now = state};
	feed(c, &e);
}

static void announcements_begin_no_connection(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	announced(&c, 100, 2); /* SYN_SENT */
	announced(&c, 200, 2);
	connection(&c, 1000, 999);
	announced(&c, 20000, 7); /* it is closed, but not freed */
	assert_moved(&c, SOCK, 100);
	assert_null(sock_find(&c, AGAIN));
	feed_end(&c);
}

static void attempts_that_fail_are_no_connections(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	connects(&c, 900, TID);
	ev_closed(&c, 950, SOCK); /* refused */
	connects(&c, 960, TID);
	connection(&c, 1000, 999);
	assert_moved(&c, SOCK, 100);
	assert_null(sock_find(&c, AGAIN));
	feed_end(&c);
}

/* connect() is of the connection that it makes; a call that began before, of the one before. */
static void calls_are_of_one_connection(void **unused)
{
	struct core c;

	(void)unused;
	feed_begin(&c, ALL_HOOKS);
	ev_opened(&c, 1000, SOCK, 999, 4999);
	ev_enter(&c, 2000, OTHER, SOCK, MG_SYS_recvfrom, 5000);
	ev_closed(&c, 3000, SOCK);
	ev_enter(&c, 4000, TID, SOCK, MG_SYS_sendto, 1000);
	connects(&c, 5000, TID);
	assert_int_equal(tx_of(&c, SOCK)->use.open, 0);
	assert_int_equal(tx_of(&c, AGAIN)->use.open, 1);
	ev_exit(&c, 6000, OTHER, SOCK, MG_SYS_recvfrom, 5000, 0);
	assert_int_equal(rx_of(&c, SOCK)->use.in_kernel, 0);
	assert_null(sock_find(&c, AGAIN + FLOW_CONNECTION));
	ev_exit(&c, 7000, TID, SOCK, MG_SYS_sendto, 1000, -115);
	assert_int_equal(tx_of(&c, AGAIN)->use.in_kernel, 0);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_connection_has_its_own_bytes),
		cmocka_unit_test(a_connection_may_be_known_once_it_is_established),
		cmocka_unit_test(announcements_begin_no_connection),
		cmocka_unit_test(attempts_that_fail_are_no_connections),
		cmocka_unit_test(calls_are_of_one_connection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
