/* SPDX-License-Identifier: MIT */
/*
 * Joins connections with both ends in one trace, to follow each byte from the sender's call to the
 * receiver's return. The ends are matched by their initial sequence numbers, seen or computed from
 * counters, which works without addresses and through address translation; where one end's cannot
 * be computed, by addresses and ports.
 */
#include "socket/peer.h"

#include <string.h>

#include "core.h"
#include "event_table.h"
#include "bytes/ranges.h"
#include "socket/anchor.h"
#include "socket/closed.h"

#define WAIT_MAX 1024 /* byte ranges kept for an end that may never be announced */

static void join(struct core *c, struct mg_sock *s, struct mg_sock *o)
{
	o->peer = s;
	s->peer = o;
	anchor_by_peer(c, &s->tx, &o->rx);
	anchor_by_peer(c, &o->tx, &s->rx);
}

void peer_link(struct core *c, struct mg_sock *s)
{
	struct ends theirs = {s->ends.irs, s->ends.isn};
	struct mg_sock *o = NULL;

	HASH_FIND(hh_alone, c->sockets.alone, &theirs, sizeof(theirs), o);
	if (!o)
		o = closed_unpack_alone(c, &theirs);
	if (!o || o == s) {
		HASH_ADD(hh_alone, c->sockets.alone, ends, sizeof(s->ends), s);
		s->in.alone = s->hh_alone.tbl;
		return;
	}
	HASH_DELETE(hh_alone, c->sockets.alone, o);
	o->in.alone = false;
	join(c, s, o);
}

/*
 * Returns whether two sockets may be the ends of one connection. Among several with the same ends
 * in different namespaces only the last is considered.
 */
static bool may_be_ends(const struct mg_sock *s, const struct mg_sock *o)
{
	static const uint8_t loopback4[13] = {[10] = 0xff, [11] = 0xff, [12] = 127};
	static const uint8_t loopback6[16] = {[15] = 1};
	bool local = memcmp(s->laddr, loopback4, sizeof(loopback4)) == 0 ||
		     memcmp(s->laddr, loopback6, sizeof(loopback6)) == 0;

	return o != s && !o->peer && (!local || s->netns == o->netns) &&
	       anchors_agree(&s->tx, &o->rx) && anchors_agree(&o->tx, &s->rx);
}

void peer_forget(struct core *c, struct mg_sock *s)
{
	if (s->in.placed)
		HASH_DELETE(hh_place, c->sockets.places, s);
	s->in.placed = false;
}

void peer_link_by_place(struct core *c, struct mg_sock *s)
{
	struct place theirs = {.lport = s->rport, .rport = s->lport};
	struct mg_sock *o = NULL;

	if (s->peer || !s->lport || !s->rport)
		return;
	memcpy(theirs.laddr, s->raddr, sizeof(theirs.laddr));
	memcpy(theirs.raddr, s->laddr, sizeof(theirs.raddr));
	HASH_FIND(hh_place, c->sockets.places, &theirs, sizeof(theirs), o);
	if (o && may_be_ends(s, o)) {
		peer_forget(c, o);
		if (o->in.alone)
			HASH_DELETE(hh_alone, c->sockets.alone, o);
		if (s->in.alone)
			HASH_DELETE(hh_alone, c->sockets.alone, s);
		o->in.alone = s->in.alone = false;
		join(c, s, o);
		return;
	}
	peer_forget(c, s);
	memcpy(s->place.laddr, s->laddr, sizeof(s->place.laddr));
	memcpy(s->place.raddr, s->raddr, sizeof(s->place.raddr));
	s->place.lport = s->lport;
	s->place.rport = s->rport;
	HASH_FIND(hh_place, c->sockets.places, &s->place, sizeof(s->place), o);
	if (o)
		peer_forget(c, o);
	HASH_ADD(hh_place, c->sockets.places, place, sizeof(s->place), s);
	s->in.placed = s->hh_place.tbl;
}

/* Index of the list of bytes sent again before they arrived, of which the copy is unknown. */
#define AGAIN 4

struct merging {
	const struct core *c;
	struct flow *tx, *rx;
};

static void atom(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	const struct merging *m = arg;
	uint64_t call = t[0], xmit = t[1], dev = t[2], user = t[3];
	bool ambiguous = !dev || (present & 1u << AGAIN && dev >= t[AGAIN]);

	if ((present & 0xf) != 0xf || !user || (!call && !xmit))
		return;
	if (xmit && ambiguous)
		m->rx->copies.transit_ambiguous += b - a;
	emit_crossing(&m->c->facts, &(struct fact_crossing){.flow = flow_fact(m->rx),
					    .sender = flow_fact(m->tx),
					    .kind = MG_KIND_tcp,
					    .offset = a,
					    .length = b - a,
					    .begin = call,
					    .transmitted = xmit,
					    .arrived = ambiguous ? 0 : dev,
					    .end = user});
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Joins what both ends know by now. */
static void merge(const struct core *c, struct flow *tx, struct flow *rx)
{
	struct merging m = {c, tx, rx};
	const struct ranges *all[] = {&tx->paired.call, &tx->paired.x, &rx->paired.r,
		&rx->paired.call, &tx->copies.again};
	uint64_t from = larger(tx->paired.base, larger(all[0]->base, all[3]->base)), until, other;

	/* bytes that one end passed before the other was met lack one of the times */
	from = larger(from, larger(tx->start, rx->start));
	until = ranges_reach(all[0], from);
	other = ranges_reach(all[3], from);
	if (other < until)
		until = other;
	if (until <= from)
		return;
	ranges_atoms(all, 5, from, until, atom, &m);
	tx->paired.base = until;
	ranges_drop(&tx->paired.call, until);
	ranges_drop(&tx->paired.x, until);
	ranges_drop(&rx->paired.r, until);
	ranges_drop(&rx->paired.call, until);
	ranges_drop(&tx->copies.again, until);
}

/* Drops the older half. */
static void make_room(struct ranges *one, struct ranges *two)
{
	uint64_t upto = ranges_at(one, one->len / 2)->a;

	ranges_drop(one, upto);
	ranges_drop(two, upto);
}

static void keep(struct flow *f, struct ranges *one, struct ranges *two, uint64_t a, uint64_t b,
	uint64_t t1, uint64_t t2)
{
	if (!f->sock->met.opened)
		return;
	if (!f->sock->peer && one->len >= WAIT_MAX)
		make_room(one, two);
	ranges_add(one, a, b, t1);
	ranges_add(two, a, b, t2);
}

void peer_sent(
	const struct core *c, struct flow *tx, uint64_t a, uint64_t b, uint64_t call, uint64_t xmit)
{
	keep(tx, &tx->paired.call, &tx->paired.x, a, b, call, xmit);
	if (tx->sock->peer)
		merge(c, tx, &tx->sock->peer->rx);
}

void peer_received(
	const struct core *c, struct flow *rx, uint64_t a, uint64_t b, uint64_t dev, uint64_t user)
{
	keep(rx, &rx->paired.call, &rx->paired.r, a, b, user, dev);
	if (rx->sock->peer)
		merge(c, &rx->sock->peer->tx, rx);
}
