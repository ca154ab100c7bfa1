/* SPDX-License-Identifier: MIT */
/*
 * Counts retransmitted SYN-ACKs, which come before the connection has a socket: they belong to the
 * socket established with their initial sequence number.
 */
#include "socket/synack.h"

#include <stdlib.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"

#define SYNACKS_MAX 4096 /* requests remembered */

struct synack {
	uint32_t seq; /* initial sequence number */
	uint32_t n;
	UT_hash_handle hh;
};

static struct synack *find(const struct core *c, uint32_t seq)
{
	struct synack *a;

	HASH_FIND(hh, c->requests.synacks, &seq, sizeof(seq), a);
	return a;
}

static void forget(struct core *c, struct synack *a)
{
	HASH_DEL(c->requests.synacks, a);
	free(a);
}

void synack_on_retransmit(struct core *c, const struct mg_tcp_retransmit *p)
{
	struct synack *a = find(c, p->seq);

	c->requests.synack_retries += p->segs;
	if (!a) {
		a = mg_calloc(1, sizeof(*a));
		if (!a)
			return;
		if (HASH_COUNT(c->requests.synacks) >= SYNACKS_MAX) /* drops the oldest */
			forget(c, c->requests.synacks);
		a->seq = p->seq;
		HASH_ADD(hh, c->requests.synacks, seq, sizeof(a->seq), a);
		a = hash_kept(a);
		if (!a)
			return;
	}
	a->n += p->segs;
}

void synack_on_established(struct core *c, struct mg_sock *s, uint32_t write_seq)
{
	struct synack *a = find(c, write_seq - 1);

	if (!a)
		return;
	s->tx.retried.synack += a->n;
	forget(c, a);
}

void synacks_free(struct core *c)
{
	struct synack *a, *tmp;

	HASH_ITER (hh, c->requests.synacks, a, tmp) {
		forget(c, a);
	}
}
