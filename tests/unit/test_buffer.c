/* SPDX-License-Identifier: MIT */
/* Bytes in a connection's buffers; its own first byte is number 1000, the peer's 5000. */
#include "feed.h"

#define TID  10
#define SOCK 1
#define KEPT 8

struct got {
	int n;
	struct fact_buffer fact[KEPT];
};

static void keep(void *arg, const void *fact)
{
	struct got *g = arg;

	assert_true(g->n < KEPT);
	g->fact[g->n++] = *(const struct fact_buffer *)fact;
}

static void open_core(struct core *c, struct got *g)
{
	feed_begin(c, ALL_HOOKS);
	facts_listen(core_facts(c), FACT_buffer, keep, g);
	ev_opened(c, 10, SOCK, 999, 4999);
}

static void assert_last(const struct got *g, int n, bool rx, uint64_t bytes, uint64_t unsent)
{
	const struct fact_buffer *f = &g->fact[g->n - 1];

	assert_int_equal(g->n, n);
	assert_int_equal(f->flow.rx, rx);
	assert_int_equal(f->bytes, bytes);
	assert_int_equal(f->unsent, unsent);
}

static void write_finds_what_earlier_ones_left(void **unused)
{
	struct got g = {0};
	struct core c;
	struct mg_event e;

	(void)unused;
	open_core(&c, &g);
	ev_enter(&c, 1000, TID, SOCK, MG_SYS_sendto, 1000);
	ev_send(&c, 1100, TID, SOCK, 1000, 3000, 1000);
	assert_last(&g, 1, false, 0, 0);
	e = feed_event(MG_EVENT_tcp_send, 1200, TID);
	e.tcp_send.sock = SOCK;
	e.tcp_send.seq = 3000;
	e.tcp_send.left = 1000;
	e.tcp_send.snd_una = 1500;
	e.tcp_send.snd_nxt = 2400;
	feed(&c, &e);
	assert_last(&g, 2, false, 1500, 600);
	feed_end(&c);
}

static void segment_tells_what_is_left_between_calls_only(void **unused)
{
	struct got g = {0};
	struct core c;

	(void)unused;
	open_core(&c, &g);
	ev_enter(&c, 1000, TID, SOCK, MG_SYS_sendto, 1000);
	ev_send(&c, 1100, TID, SOCK, 1000, 3000, 1000);
	ev_packet(&c, 1150, TID, MG_EVENT_ip_out, SOCK, 1000, 1000);
	ev_ack(&c, 1160, SOCK, 1400);
	ev_tcp(&c, 1170, SOCK, 5000, 0); /* the call is still writing */
	assert_int_equal(g.n, 1);
	ev_exit(&c, 1200, TID, SOCK, MG_SYS_sendto, 4000, 3000);
	ev_ack(&c, 1300, SOCK, 2000);
	ev_tcp(&c, 1310, SOCK, 5000, 0);
	assert_int_equal(g.n, 2);
	assert_int_equal(g.fact[1].bytes, 2000); /* 4000 are written, 2000 acknowledged */
	feed_end(&c);
}

static void sequence_numbers_of_other_times_say_nothing(void **unused)
{
	struct got g = {0};
	struct core c;

	(void)unused;
	open_core(&c, &g);
	ev_ready_read(&c, 1000, SOCK, 5100, 6000);
	assert_int_equal(g.n, 0);
	feed_end(&c);
}

static void readable_bytes_wait_until_they_are_copied(void **unused)
{
	struct got g = {0};
	struct core c;
	struct mg_event e;

	(void)unused;
	open_core(&c, &g);
	ev_ready_read(&c, 1000, SOCK, 7000, 5000);
	assert_last(&g, 1, true, 2000, FACT_NONE);
	ev_enter(&c, 1100, TID, SOCK, MG_SYS_recvfrom, 5000);
	e = feed_event(MG_EVENT_sock_copy, 1200, TID);
	e.sock_copy.sock = SOCK;
	e.sock_copy.seq = 5000;
	e.sock_copy.len = 500;
	e.sock_copy.rcv_nxt = 7000;
	feed(&c, &e);
	assert_last(&g, 2, true, 1500, FACT_NONE);
	feed_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(write_finds_what_earlier_ones_left),
		cmocka_unit_test(segment_tells_what_is_left_between_calls_only),
		cmocka_unit_test(sequence_numbers_of_other_times_say_nothing),
		cmocka_unit_test(readable_bytes_wait_until_they_are_copied),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
