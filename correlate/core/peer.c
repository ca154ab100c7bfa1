/* SPDX-License-Identifier: MIT */
/*
 * Connections with both ends in one trace: each byte from the sender's call to the receiver's
 * return. The ends are known by their initial sequence numbers, so it works without addresses.
 */
#include "parts.h"

#define WAIT_MAX 65536 /* atoms kept for an end that may never be announced */

void peer_link(struct core *c, struct mg_sock *s)
{
	struct ends theirs = {s->ends.irs, s->ends.isn};
	struct mg_sock *o = NULL;

	HASH_FIND(hh_alone, c->alone, &theirs, sizeof(theirs), o);
	if (!o || o == s) {
		HASH_ADD(hh_alone, c->alone, ends, sizeof(s->ends), s);
		return;
	}
	HASH_DELETE(hh_alone, c->alone, o);
	o->peer = s;
	s->peer = o;
}

static void atom(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	struct flow *rx = arg;
	uint64_t call = t[0], xmit = t[1], dev = t[2], user = t[3];

	if (present != 0xf)
		return;
	if (call && user)
		dist_add_near(&rx->shift_peer, user > call ? user - call : 0, b - a);
	if (xmit && dev)
		dist_add(&rx->transit, dev > xmit ? dev - xmit : 0, b - a);
}

/* What both ends know by now. */
static void merge(struct flow *tx, struct flow *rx)
{
	const struct ranges *all[] = {&tx->pair_call, &tx->pair_x, &rx->pair_r, &rx->pair_call};
	uint64_t from = tx->pair_base, until = ranges_reach(all[0], from);
	uint64_t other = ranges_reach(all[3], from);

	if (other < until)
		until = other;
	if (until <= from)
		return;
	ranges_atoms(all, 4, from, until, atom, rx);
	tx->pair_base = until;
	ranges_drop(&tx->pair_call, until);
	ranges_drop(&tx->pair_x, until);
	ranges_drop(&rx->pair_r, until);
	ranges_drop(&rx->pair_call, until);
}

static void keep(struct flow *f, struct ranges *one, struct ranges *two, uint64_t a, uint64_t b,
	uint64_t t1, uint64_t t2)
{
	if (!f->sock->opened || (!f->sock->peer && one->len >= WAIT_MAX))
		return;
	ranges_add(one, a, b, t1);
	ranges_add(two, a, b, t2);
}

void peer_sent(struct flow *tx, uint64_t a, uint64_t b, uint64_t call, uint64_t xmit)
{
	keep(tx, &tx->pair_call, &tx->pair_x, a, b, call, xmit);
	if (tx->sock->peer)
		merge(tx, &tx->sock->peer->rx);
}

void peer_received(struct flow *rx, uint64_t a, uint64_t b, uint64_t dev, uint64_t user)
{
	keep(rx, &rx->pair_call, &rx->pair_r, a, b, user, dev);
	if (rx->sock->peer)
		merge(&rx->sock->peer->tx, rx);
}
