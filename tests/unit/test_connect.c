/* SPDX-License-Identifier: MIT */
/* Attempts to open a connection, by the states of its socket. */
#include "feed.h"

#define CLIENT 7
#define KEPT   4

struct got {
	int n;
	struct fact_connect fact[KEPT];
};

static void keep(void *arg, const void *fact)
{
	struct got *g = arg;

	assert_true(g->n < KEPT);
	memcpy(&g->fact[g->n++], fact, sizeof(g->fact[0]));
}

static void begin(struct core *c, struct got *g)
{
	memset(g, 0, sizeof(*g));
	feed_begin(c, ALL_HOOKS);
	facts_listen(&c->facts, FACT_connect, keep, g);
}

static void changes(struct core *c, uint64_t t, uint8_t old, uint8_t now)
{
	struct mg_event e = feed_event(MG_EVENT_sock_state, t, 0);

	e.sock_state = (struct mg_sock_state){.sock = CLIENT,
		.old = old,
		.now = now,
		.lport = 5000,
		.rport = 80,
		.family = 2,
		.opener = 1};
	feed(c, &e);
}

static void assert_attempt(const struct fact_connect *f, uint64_t begin, uint64_t end,
	uint64_t took, enum fact_connect_outcome outcome)
{
	assert_int_equal(f->begin, begin);
	assert_int_equal(f->end, end);
	assert_true(f->took == took);
	assert_int_equal(f->outcome, outcome);
}

static void an_attempt_ends_established_or_closed(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin(&c, &g);
	changes(&c, 1000, MG_TCP_CLOSE, MG_TCP_SYN_SENT);
	changes(&c, 1500, MG_TCP_SYN_SENT, MG_TCP_CLOSE);
	changes(&c, 2000, MG_TCP_CLOSE, MG_TCP_SYN_SENT); /* the same socket again */
	changes(&c, 2100, MG_TCP_SYN_SENT, MG_TCP_SYN_RECV);
	changes(&c, 2300, MG_TCP_SYN_RECV, MG_TCP_ESTABLISHED);
	changes(&c, 9000, MG_TCP_ESTABLISHED, MG_TCP_CLOSE);
	feed_end(&c);
	assert_int_equal(g.n, 2);
	assert_attempt(&g.fact[0], 1000, 1500, 500, CONNECT_FAILED);
	assert_attempt(&g.fact[1], 2000, 2300, 300, CONNECT_DONE);
	assert_int_equal(g.fact[0].remote.port, 80);
}

static void one_whose_end_was_not_seen_has_no_time(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin(&c, &g);
	changes(&c, 1000, MG_TCP_CLOSE, MG_TCP_SYN_SENT);
	changes(&c, 9000, MG_TCP_ESTABLISHED, MG_TCP_FIN_WAIT1);
	changes(&c, 9100, MG_TCP_FIN_WAIT1, MG_TCP_CLOSE);
	changes(&c, 9500, MG_TCP_CLOSE, MG_TCP_SYN_SENT);
	changes(&c, 9900, MG_TCP_CLOSE, MG_TCP_SYN_SENT);
	changes(&c, 9950, MG_TCP_SYN_SENT, MG_TCP_ESTABLISHED);
	feed_end(&c);
	assert_int_equal(g.n, 3);
	assert_attempt(&g.fact[0], 1000, 0, FACT_NONE, CONNECT_DONE);
	assert_attempt(&g.fact[1], 9500, 0, FACT_NONE, CONNECT_FAILED);
	assert_attempt(&g.fact[2], 9900, 9950, 50, CONNECT_DONE);
}

/* A recording that begins, or goes on after a pause, tells the states that there are. */
static void a_state_that_is_told_begins_no_attempt(void **unused)
{
	struct core c;
	struct got g;

	(void)unused;
	begin(&c, &g);
	changes(&c, 500, MG_TCP_NO_SOCKET, MG_TCP_SYN_SENT);
	changes(&c, 700, MG_TCP_SYN_SENT, MG_TCP_CLOSE);
	assert_int_equal(g.n, 0);
	changes(&c, 1000, MG_TCP_CLOSE, MG_TCP_SYN_SENT);
	changes(&c, 1200, MG_TCP_NO_SOCKET, MG_TCP_SYN_SENT);
	changes(&c, 1500, MG_TCP_SYN_SENT, MG_TCP_ESTABLISHED);
	feed_end(&c);
	assert_int_equal(g.n, 1);
	assert_attempt(&g.fact[0], 1000, 1500, 500, CONNECT_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_attempt_ends_established_or_closed),
		cmocka_unit_test(one_whose_end_was_not_seen_has_no_time),
		cmocka_unit_test(a_state_that_is_told_begins_no_attempt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
