/* SPDX-License-Identifier: MIT */
/*
 * Packs a socket: first its memory, in which pointers are 0, or 1 for data that no other member
 * implies; then the data they point to, always in the same order.
 */

#include "socket/closed_pack.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "bytes/packing.h"
#include "bytes/ranges.h"
#include "bytes/resent.h"
#include "bytes/why_state.h"
#include "bytes/words.h"
#include "exchange/exchange.h"
#include "socket/anchor.h"
#include "socket/closed.h"
#include "socket/socket.h"
#include "socket/state_slots.h"

/* ---- data that a flow points to ---- */

#define RANGES_OF_FLOW (TX_LAYERS + 4)

static void ranges_of(struct flow *f, struct ranges *all[RANGES_OF_FLOW])
{
	struct ranges *rest[] = {&f->copies.again, &f->paired.call, &f->paired.x, &f->paired.r};

	for (int i = 0; i < TX_LAYERS; i++)
		*all++ = &f->layer[i];
	memcpy(all, rest, sizeof(rest));
}

static bool flow_fits(const struct core *c, const struct flow *f)
{
	core_await_listeners(c);
	return !f->zerocopy && !f->ack.timed && !f->ack.on_way && !f->paired.partner &&
	       (!*f->state || c->attached.does.fits(*f->state));
}

bool closed_fits(const struct core *c, const struct mg_sock *s)
{
	return s->state == MG_TCP_CLOSE && s->kind == MG_KIND_tcp && !s->kept.by && !s->queues &&
	       !s->exchanges && !s->far && !s->in.placed && flow_fits(c, &s->tx) &&
	       flow_fits(c, &s->rx);
}

static size_t flow_bounded(const struct core *c, const struct flow *f)
{
	core_await_listeners(c);
	return *f->state ? c->attached.does.size(*f->state) : 0;
}

size_t closed_bounded(const struct core *c, const struct mg_sock *s)
{
	return flow_bounded(c, &s->tx) + flow_bounded(c, &s->rx);
}

/* ---- the copy without pointers ---- */

static void bare_ranges(struct ranges *r)
{
	if (r->cap || !r->len)
		memset(&r->own, 0, sizeof(r->own));
	if (r->cap)
		r->cap = r->len;
	r->head = 0;
}

static void bare_flow(struct flow *f)
{
	struct ranges *ranges[RANGES_OF_FLOW];

	f->sock = NULL;
	ranges_of(f, ranges);
	for (int i = 0; i < RANGES_OF_FLOW; i++)
		bare_ranges(ranges[i]);
	f->state = PACKED_THERE(*f->state);
	if (f->call_ends.cap || !f->call_ends.len)
		f->call_ends.own = 0;
	if (f->call_ends.cap)
		f->call_ends.cap = f->call_ends.len;
	f->call_ends.head = 0;
	f->why = PACKED_THERE(f->why);
	f->copies.resent_times = PACKED_THERE(f->copies.resent_times);
}

static void bare_sock(struct mg_sock *s)
{
	bare_flow(&s->tx);
	bare_flow(&s->rx);
	s->listed.next = NULL;
	s->listed.at = NULL;
	s->listed.is = s->in.alone = s->in.open = s->in.closed = false;
	memset(&s->hh, 0, sizeof(s->hh));
	memset(&s->hh_alone, 0, sizeof(s->hh_alone));
	memset(&s->hh_place, 0, sizeof(s->hh_place));
	s->peer = NULL;
}

/* ---- writing ---- */

static void put_ranges(struct packing *p, const struct ranges *r)
{
	if (r->cap)
		pack_words(p, ranges_at(r, 0), r->len * sizeof(*r->list));
}

static void put_why(struct packing *p, const struct why *w)
{
	struct why bare = *w;

	bare_ranges(&bare.label);
	if (!w->len)
		bare.head = bare.cap = 0;
	if (w->cap || !w->len)
		memset(&bare.own, 0, sizeof(bare.own));
	bare.split.held.span = NULL;
	PACK(p, &bare);
	put_ranges(p, &w->label);
	if (bare.cap)
		pack_words(p, w->flight, w->cap * sizeof(*w->flight));
	pack_words(p, w->split.held.span, w->split.held.cap * sizeof(*w->split.held.span));
}

static void put_resent(struct packing *p, const struct resent *r)
{
	struct resent bare = *r;

	bare.range = NULL;
	bare.cap = bare.n;
	PACK(p, &bare);
	pack_words(p, r->range, r->n * sizeof(*r->range));
}

static void put_flow(const struct core *c, struct packing *p, struct flow *f)
{
	struct ranges *ranges[RANGES_OF_FLOW];

	ranges_of(f, ranges);
	for (int i = 0; i < RANGES_OF_FLOW; i++)
		put_ranges(p, ranges[i]);
	if (f->call_ends.cap)
		pack_words(p, call_ends_at(&f->call_ends, 0),
			f->call_ends.len * sizeof(*f->call_ends.off));
	if (f->why)
		put_why(p, f->why);
	if (f->copies.resent_times)
		put_resent(p, f->copies.resent_times);
	if (*f->state)
		c->attached.does.pack(*f->state, p);
}

/* ---- reading ---- */

static void get_ranges(struct unpacking *u, struct ranges *r)
{
	if (r->cap)
		UNPACK(u, r->list, r->len);
}

static void get_why(struct unpacking *u, struct why **why)
{
	struct why *w = UNPACK(u, *why, 1);

	if (!w)
		return;
	get_ranges(u, &w->label);
	if (w->cap)
		UNPACK(u, w->flight, w->cap);
	UNPACK(u, w->split.held.span, w->split.held.cap);
}

static void get_resent(struct unpacking *u, struct resent **resent)
{
	struct resent *r = UNPACK(u, *resent, 1);

	if (r)
		UNPACK(u, r->range, r->n);
}

static void get_flow(const struct core *c, struct unpacking *u, struct flow *f, bool has_state)
{
	struct ranges *ranges[RANGES_OF_FLOW];

	ranges_of(f, ranges);
	for (int i = 0; i < RANGES_OF_FLOW; i++)
		get_ranges(u, ranges[i]);
	if (f->call_ends.cap)
		UNPACK(u, f->call_ends.off, f->call_ends.len);
	if (f->why)
		get_why(u, &f->why);
	if (f->copies.resent_times)
		get_resent(u, &f->copies.resent_times);
	if (has_state && !u->failed)
		*f->state = c->attached.does.unpack(c->attached.what, u);
}

/* ---- sockets ---- */

struct closed_sock *closed_packed(struct core *c, struct mg_sock *s)
{
	struct packing p = {.into = &c->sockets.closed.room};
	struct mg_sock bare = *s;
	struct closed_sock *k;

	bare_sock(&bare);
	PACK(&p, &bare);
	put_flow(c, &p, &s->tx);
	put_flow(c, &p, &s->rx);
	k = p.failed ? NULL : mg_calloc(1, sizeof(*k) + p.n + WORDS_BEYOND);
	if (!k)
		return NULL;
	k->cookie = s->cookie;
	k->ends = s->ends;
	k->peer = s->peer ? s->peer->cookie : 0;
	k->holes = c->losses.hole_next;
	k->size = (uint32_t)p.n;
	memcpy(k->data, c->sockets.closed.room.bytes, p.n);
	return k;
}

void closed_empty(struct core *c, struct mg_sock *s)
{
	flow_free(c, &s->tx);
	flow_free(c, &s->rx);
	state_slots_give(c, s);
	exchanges_free(s);
}

bool closed_unpack_to(struct core *c, const struct closed_sock *k, struct mg_sock *s)
{
	struct unpacking u = {.from = words_read(k->data, s, sizeof(*s) / sizeof(uint64_t))};
	bool has_tx = s->tx.state, has_rx = s->rx.state;

	u.failed |= !state_slots_take(c, s);
	get_flow(c, &u, &s->tx, has_tx);
	get_flow(c, &u, &s->rx, has_rx);
	s->tx.sock = s->rx.sock = s;
	return !u.failed;
}
