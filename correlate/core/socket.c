/* SPDX-License-Identifier: MIT */
/* Sockets, and where sequence numbers lie in their byte streams (method, "Byte lineage"). */
#include <stdlib.h>
#include <string.h>

#include "parts.h"

#define STATE_ESTABLISHED 1
#define STATE_CLOSE       7
#define STATE_CLOSE_WAIT  8

struct mg_sock *sock_find(const struct core *c, uint64_t cookie)
{
	struct mg_sock *s = c->recent.sock[cookie % RECENT];

	if (!s || s->cookie != cookie)
		HASH_FIND(hh, c->socks, &cookie, sizeof(cookie), s);
	return s;
}

static void keep_series(struct core *c, struct flow *f, int layers)
{
	f->series = series_new(&c->series, layers);
	for (int i = 0; f->series && i < layers; i++)
		f->units[i].series = &f->series[i];
}

struct mg_sock *sock_get(struct core *c, uint64_t cookie)
{
	struct mg_sock *s = cookie ? sock_find(c, cookie) : NULL;

	if (!cookie)
		return NULL;
	if (s)
		return c->recent.sock[cookie % RECENT] = s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->cookie = cookie;
	s->kind = MG_KIND_tcp;
	s->tx.sock = s->rx.sock = s;
	s->rx.rx = true;
	keep_series(c, &s->tx, TX_LAYERS);
	keep_series(c, &s->rx, RX_LAYERS);
	HASH_ADD(hh, c->socks, cookie, sizeof(s->cookie), s);
	return c->recent.sock[cookie % RECENT] = s;
}

static void set_anchor(struct anchor *a, uint32_t seq, uint64_t off, bool relative)
{
	a->seq = seq;
	a->off = off;
	a->set = true;
	a->relative = relative;
}

/*
 * The difference to a known place is unambiguous within 2^31, since windows are at most 2^30
 * (RFC 7323, 2.3); the known place moves along.
 */
bool flow_offset(struct flow *f, uint32_t seq, uint64_t *off)
{
	struct anchor *a = &f->anchor;
	int32_t ahead;

	if (!a->set) /* its opening was not seen: count from here */
		set_anchor(a, seq, 0, true);
	ahead = (int32_t)(seq - a->seq);
	if (ahead < 0 && (uint64_t) - (int64_t)ahead > a->off)
		return false;
	*off = a->off + (uint64_t)(int64_t)ahead;
	if (ahead > 0) {
		a->seq = seq;
		a->off = *off;
	}
	return true;
}

void flow_touch(struct flow *f, uint64_t t)
{
	if (!f->first_t)
		f->first_t = t;
	f->last_t = t;
}

#define PASSED_MAX 1024

void flow_pass(struct flow *f, struct ranges *layer, uint64_t end)
{
	if (end > f->total)
		f->total = end;
	ranges_keep(layer, PASSED_MAX);
}

/* What was in flight is no more. */
static void trim(struct flow *f)
{
	for (int i = 0; i < TX_LAYERS; i++)
		ranges_trim(&f->layer[i]);
	ranges_trim(&f->pair_call);
	ranges_trim(&f->pair_x);
	ranges_trim(&f->pair_r);
}

void sock_on_state(struct core *c, const struct mg_event *e)
{
	const struct mg_sock_state *p = &e->sock_state;
	struct mg_sock *s = sock_get(c, p->sock);

	if (!s)
		return;
	s->netns = p->netns;
	s->family = p->family;
	if (p->lport) /* a closed socket has given its port back */
		s->lport = p->lport;
	if (p->rport)
		s->rport = p->rport;
	s->state = p->now;
	if (p->now == STATE_CLOSE) {
		state_end(s, e->cycles);
		trim(&s->tx);
		trim(&s->rx);
	}
	if (p->opener)
		s->opener = p->opener;
	if (p->old == STATE_ESTABLISHED || p->old == STATE_CLOSE_WAIT) {
		uint64_t off; /* before our FIN takes a sequence number */

		if (s->tx.anchor.set && flow_offset(&s->tx, p->write_seq, &off) &&
			off > s->tx.total)
			s->tx.total = off;
	}
	if (p->now == STATE_ESTABLISHED && p->opener && !s->opened) {
		s->opened = true;
		s->ends = (struct ends){p->write_seq - 1, p->rcv_nxt - 1};
		set_anchor(&s->tx.anchor, p->write_seq, 0, false);
		set_anchor(&s->rx.anchor, p->rcv_nxt, 0, false);
		peer_link(c, s);
	}
}

void sock_on_addr(struct core *c, const struct mg_event *e)
{
	struct mg_sock *s = sock_get(c, e->sock_addr.sock);

	if (!s)
		return;
	memcpy(s->laddr, e->sock_addr.laddr, 16);
	memcpy(s->raddr, e->sock_addr.raddr, 16);
	s->has_addr = true;
}

/*
 * A connection older than the recording: bytes_acked gives the offset of snd_una, less the SYN an
 * active opener counts; whether it does shows in the bytes sent, and is believed only if 0 or 1.
 */
void sock_on_open(struct core *c, const struct mg_event *e)
{
	const struct mg_sock_open *p = &e->sock_open;
	struct mg_sock *s = sock_get(c, p->sock);
	uint32_t in_flight = p->snd_nxt - p->snd_una;
	uint32_t syn = (uint32_t)p->bytes_acked - (p->sent_once - in_flight);

	if (!s || s->opened)
		return;
	s->opened = true;
	if (syn <= 1 && syn <= p->bytes_acked) {
		set_anchor(&s->tx.anchor, p->snd_una, p->bytes_acked - syn, false);
		s->tx.start = s->tx.total = s->tx.done = p->bytes_acked - syn;
	} else {
		set_anchor(&s->tx.anchor, p->snd_una, 0, true);
	}
	set_anchor(&s->rx.anchor, p->rcv_nxt, p->bytes_received, false);
	s->rx.start = s->rx.total = s->rx.done = p->bytes_received;
	for (int i = 0; i < TX_LAYERS; i++)
		ranges_drop(&s->tx.layer[i], s->tx.done);
}

void flow_free(struct flow *f)
{
	for (int i = 0; i < TX_LAYERS; i++) {
		ranges_free(&f->layer[i]);
		unit_free(&f->units[i]);
	}
	series_free(f->series, f->rx ? (int)RX_LAYERS : (int)TX_LAYERS);
	for (int i = 0; i < STAGES_MAX; i++)
		dist_free(&f->stage[i]);
	dist_free(&f->residence);
	waterfall_free(&f->waterfall);
	dist_free(&f->last_byte);
	free(f->call_ends.off);
	why_free(f->why);
	dist_free(&f->shift_device);
	dist_free(&f->shift_peer);
	dist_free(&f->transit);
	unit_free(&f->from);
	ranges_free(&f->pair_call);
	ranges_free(&f->pair_x);
	ranges_free(&f->pair_r);
}
