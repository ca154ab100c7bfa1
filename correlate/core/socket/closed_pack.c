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
#include "socket/anchor.h"
#include "socket/closed.h"
#include "socket/socket.h"
#include "stream/ranges.h"
#include "stream/resent.h"
#include "stream/why.h"
#include "sums/dist.h"
#include "sums/dist_bins.h"
#include "sums/waterfall.h"
#include "sums/words.h"
#include "trace/bound.h"

#define THERE ((void *)1)

/* ---- data that a flow points to ---- */

#define RANGES_OF_FLOW (TX_LAYERS + 4)

static void ranges_of(struct flow *f, struct ranges *all[RANGES_OF_FLOW])
{
	struct ranges *rest[] = {&f->copies.again, &f->pair_call, &f->pair_x, &f->pair_r};

	for (int i = 0; i < TX_LAYERS; i++)
		*all++ = &f->layer[i];
	memcpy(all, rest, sizeof(rest));
}

/*
 * A hash table stays as long as there is memory for it: packing the many bins of a busy flow takes
 * long, and may be in vain (dist_trim() does it when memory is short).
 */
static bool dist_fits(const struct dist *d)
{
	return (d->is_packed || !d->size || !d->pool) && (!d->more || !d->more->wide);
}

static bool flow_fits(struct flow *f)
{
	const struct resent *r = f->copies.resent_times;
	struct dist *all[FLOW_DISTS];
	uint32_t n = flow_dists(f, all);

	if (f->series || f->zerocopy || f->from || f->partner)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!dist_fits(all[i]))
			return false;
	return !r || (dist_fits(&r->wait) && dist_fits(&r->left_out));
}

bool closed_fits(struct mg_sock *s)
{
	return s->state == MG_TCP_CLOSE && s->kind == MG_KIND_tcp && !s->pieces && !s->queues &&
	       !s->far && !s->is_placed && flow_fits(&s->tx) && flow_fits(&s->rx);
}

/* ---- the copy without pointers ---- */

static void *there(const void *p)
{
	return p ? THERE : NULL;
}

static void bare_ranges(struct ranges *r)
{
	r->v = NULL;
	r->cap = r->len;
	r->head = 0;
}

static void bare_dist(struct dist *d)
{
	d->bins = NULL;
	d->pool = NULL;
	d->more = there(d->more);
	if (d->late_cap)
		d->late = NULL;
}

static void bare_flow(struct flow *f)
{
	struct ranges *ranges[RANGES_OF_FLOW];
	struct dist *dists[FLOW_DISTS];
	uint32_t n = flow_dists(f, dists);

	f->sock = NULL;
	ranges_of(f, ranges);
	for (int i = 0; i < RANGES_OF_FLOW; i++)
		bare_ranges(ranges[i]);
	for (uint32_t i = 0; i < n; i++)
		bare_dist(dists[i]);
	f->waterfall.cell = NULL;
	f->waterfall.place = NULL;
	f->waterfall.pool = NULL;
	f->waterfall.cap = f->waterfall.used;
	f->call_ends.off = NULL;
	f->call_ends.cap = f->call_ends.len;
	f->call_ends.head = 0;
	f->why = there(f->why);
	f->copies.resent_times = there(f->copies.resent_times);
}

static void bare_sock(struct mg_sock *s)
{
	bare_flow(&s->tx);
	bare_flow(&s->rx);
	s->tcp = there(s->tcp);
	s->next_live = NULL;
	s->live_at = NULL;
	s->is_live = s->is_alone = false;
	memset(&s->hh, 0, sizeof(s->hh));
	memset(&s->hh_alone, 0, sizeof(s->hh_alone));
	memset(&s->hh_place, 0, sizeof(s->hh_place));
	s->peer = NULL;
}

/* ---- writing ---- */

struct packing {
	struct closed_socks *into;
	size_t n; /* bytes written into its room */
	bool failed;
};

static uint8_t *room_for(struct packing *p, size_t bytes)
{
	struct closed_socks *into = p->into;
	uint8_t *more;

	if (p->failed || p->n + bytes <= into->room_cap)
		return p->failed ? NULL : into->room + p->n;
	more = mg_realloc(into->room, 2 * (p->n + bytes));
	if (!more) {
		p->failed = true;
		return NULL;
	}
	into->room = more;
	into->room_cap = 2 * (p->n + bytes);
	return more + p->n;
}

static void put_words(struct packing *p, const void *from, size_t bytes)
{
	size_t n = bytes / sizeof(uint64_t);
	uint8_t *to = n ? room_for(p, WORDS_ROOM(n)) : NULL;

	if (to)
		p->n = (size_t)(words_write(to, from, n) - p->into->room);
}

static void put_bytes(struct packing *p, const void *from, size_t bytes)
{
	uint8_t *to = bytes ? room_for(p, bytes) : NULL;

	if (!to)
		return;
	memcpy(to, from, bytes);
	p->n += bytes;
}

#define PUT(p, thing) put_words(p, thing, sizeof(*(thing)))

static void put_ranges(struct packing *p, const struct ranges *r)
{
	put_words(p, r->v + r->head, r->len * sizeof(*r->v));
}

/* Writes packed bins, which are as short as they can be. */
static void put_dist(struct packing *p, const struct dist *d)
{
	if (d->more)
		PUT(p, d->more);
	if (d->late_cap)
		put_words(p, d->late, d->late_n * sizeof(*d->late));
	if (d->is_packed)
		put_bytes(p, d->packed, d->size);
	else
		put_words(p, d->bins, d->size * sizeof(*d->bins));
}

static void put_why(struct packing *p, const struct why *w)
{
	struct why bare = *w;

	bare_ranges(&bare.label);
	bare.flight = NULL;
	bare.row = NULL;
	bare.split.held.span = NULL;
	PUT(p, &bare);
	put_ranges(p, &w->label);
	put_words(p, w->flight, w->cap * sizeof(*w->flight));
	put_words(p, w->row, w->rows * sizeof(*w->row));
	put_words(p, w->split.held.span, w->split.held.cap * sizeof(*w->split.held.span));
}

static void put_resent(struct packing *p, const struct resent *r)
{
	struct resent bare = *r;

	bare.range = NULL;
	bare.cap = bare.n;
	bare_dist(&bare.wait);
	bare_dist(&bare.left_out);
	PUT(p, &bare);
	put_dist(p, &r->wait);
	put_dist(p, &r->left_out);
	put_words(p, r->range, r->n * sizeof(*r->range));
}

static size_t cells_size(const struct waterfall *w)
{
	return w->used * waterfall_cell_size(w);
}

static void put_flow(struct packing *p, struct flow *f)
{
	const struct waterfall *w = &f->waterfall;
	struct ranges *ranges[RANGES_OF_FLOW];
	struct dist *dists[FLOW_DISTS];
	uint32_t n = flow_dists(f, dists);

	ranges_of(f, ranges);
	for (int i = 0; i < RANGES_OF_FLOW; i++)
		put_ranges(p, ranges[i]);
	for (uint32_t i = 0; i < n; i++)
		put_dist(p, dists[i]);
	put_words(p, w->cell, cells_size(w));
	put_words(p, w->place, w->size * sizeof(*w->place));
	put_words(p, f->call_ends.off + f->call_ends.head,
		f->call_ends.len * sizeof(*f->call_ends.off));
	if (f->why)
		put_why(p, f->why);
	if (f->copies.resent_times)
		put_resent(p, f->copies.resent_times);
}

/* ---- reading ---- */

struct unpacking {
	const uint8_t *from;
	bool failed; /* memory is short: nothing more is read */
};

/* Reads `bytes` bytes into zeroed room for more; NULL for none. */
static void *get_words(struct unpacking *u, size_t bytes, size_t room)
{
	void *to = room && !u->failed ? mg_calloc(1, room) : NULL;

	if (to && bytes)
		u->from = words_read(u->from, to, bytes / sizeof(uint64_t));
	u->failed |= room && !to;
	return to;
}

#define GET(u, p, n) ((p) = get_words(u, (n) * sizeof(*(p)), (n) * sizeof(*(p))))

static void get_ranges(struct unpacking *u, struct ranges *r)
{
	GET(u, r->v, r->len);
}

static void get_dist(struct unpacking *u, struct dist *d)
{
	if (d->more)
		GET(u, d->more, 1);
	if (d->late_cap)
		d->late =
			get_words(u, d->late_n * sizeof(*d->late), d->late_cap * sizeof(*d->late));
	if (!d->is_packed) {
		GET(u, d->bins, d->size);
		return;
	}
	d->packed = u->failed ? NULL : mg_malloc(dist_room(d->size));
	u->failed |= !d->packed;
	if (u->failed)
		return;
	memcpy(d->packed, u->from, d->size);
	u->from += d->size;
}

static void get_why(struct unpacking *u, struct why **why)
{
	struct why *w = GET(u, *why, 1);

	if (!w)
		return;
	get_ranges(u, &w->label);
	GET(u, w->flight, w->cap);
	GET(u, w->row, w->rows);
	GET(u, w->split.held.span, w->split.held.cap);
}

static void get_resent(struct unpacking *u, struct resent **resent)
{
	struct resent *r = GET(u, *resent, 1);

	if (!r)
		return;
	get_dist(u, &r->wait);
	get_dist(u, &r->left_out);
	GET(u, r->range, r->n);
}

static void get_flow(struct unpacking *u, struct flow *f)
{
	struct waterfall *w = &f->waterfall;
	struct ranges *ranges[RANGES_OF_FLOW];
	struct dist *dists[FLOW_DISTS];
	uint32_t n = flow_dists(f, dists);

	ranges_of(f, ranges);
	for (int i = 0; i < RANGES_OF_FLOW; i++)
		get_ranges(u, ranges[i]);
	for (uint32_t i = 0; i < n; i++)
		get_dist(u, dists[i]);
	w->cell = get_words(u, cells_size(w), cells_size(w));
	GET(u, w->place, w->size);
	GET(u, f->call_ends.off, f->call_ends.len);
	if (f->why)
		get_why(u, &f->why);
	if (f->copies.resent_times)
		get_resent(u, &f->copies.resent_times);
}

/* ---- sockets ---- */

size_t closed_bounded(struct mg_sock *s)
{
	struct dist *all[2 * FLOW_DISTS];
	uint32_t n = flow_dists(&s->tx, all);
	size_t sum = waterfall_memory(&s->tx.waterfall) + waterfall_memory(&s->rx.waterfall);

	n += flow_dists(&s->rx, all + n);
	for (uint32_t i = 0; i < n; i++)
		sum += dist_memory(all[i]);
	return sum;
}

struct closed_sock *closed_packed(struct core *c, struct mg_sock *s)
{
	struct packing p = {.into = &c->closed};
	struct mg_sock bare = *s;
	struct closed_sock *k;

	bare_sock(&bare);
	PUT(&p, &bare);
	if (s->tcp)
		PUT(&p, s->tcp);
	put_flow(&p, &s->tx);
	put_flow(&p, &s->rx);
	k = p.failed ? NULL : mg_calloc(1, sizeof(*k) + p.n + WORDS_BEYOND);
	if (!k)
		return NULL;
	k->cookie = s->cookie;
	k->ends = s->ends;
	k->peer = s->peer ? s->peer->cookie : 0;
	k->holes = c->hole_next;
	k->size = (uint32_t)p.n;
	memcpy(k->data, c->closed.room, p.n);
	return k;
}

void closed_empty(struct mg_sock *s)
{
	flow_free(&s->tx);
	flow_free(&s->rx);
	free(s->tcp);
}

bool closed_unpack_to(struct core *c, const struct closed_sock *k, struct mg_sock *s)
{
	struct unpacking u = {.from = words_read(k->data, s, sizeof(*s) / sizeof(uint64_t))};

	if (s->tcp)
		GET(&u, s->tcp, 1);
	get_flow(&u, &s->tx);
	get_flow(&u, &s->rx);
	s->tx.sock = s->rx.sock = s;
	bound_flow(c, &s->tx);
	bound_flow(c, &s->rx);
	c->dists.used += closed_bounded(s);
	return !u.failed;
}
