/* SPDX-License-Identifier: MIT */
/* A connection to a server, and its exchanges as the core tells them. */
#ifndef MAGNET_TESTS_EXCHANGE_SCENE_H
#define MAGNET_TESTS_EXCHANGE_SCENE_H

#include "feed_datagrams.h"

#define KEPT 16

struct got {
	int n;
	struct fact_exchange fact[KEPT];
};

static inline void keep(void *arg, const void *fact)
{
	struct got *g = arg;

	assert_true(g->n < KEPT);
	memcpy(&g->fact[g->n++], fact, sizeof(g->fact[0]));
}

static inline void begin(struct core *c, struct got *g)
{
	memset(g, 0, sizeof(*g));
	feed_begin(c, ALL_HOOKS);
	facts_listen(&c->facts, FACT_exchange, keep, g);
}

#define SERVER 7
#define CLIENT 8
#define THREAD 10

/* The connection of SERVER is opened: its stream begins at 1001, the client's at 2001. */
static inline void accepted(struct core *c, uint64_t t)
{
	struct mg_event e = feed_event(MG_EVENT_sock_state, t, 0);

	e.sock_state = (struct mg_sock_state){.sock = SERVER,
		.write_seq = 1001,
		.snd_una = 1001,
		.rcv_nxt = 2001,
		.copied_seq = 2001,
		.old = MG_TCP_SYN_RECV,
		.now = MG_TCP_ESTABLISHED,
		.lport = 80,
		.rport = 5000,
		.family = 2,
		.opener = 2};
	feed(c, &e);
}

/* Bytes [seq, seq + len) are there, and a call reads them: U1 is at + 40. */
static inline void reads(struct core *c, uint32_t tid, uint32_t seq, uint32_t len, uint64_t at)
{
	feed_segment(c, SERVER, seq, len, at - 50, 10);
	feed_recv(c, tid, SERVER, seq, len, at, 10);
}

#endif
