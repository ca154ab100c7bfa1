/* SPDX-License-Identifier: MIT */
#include "byte_life.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core/core.h"
#include "event_table.h"

#define ROWS_MAX   500000
#define MARKS_KEPT 4096 /* limit of calls in progress; older ones have lost their end */
#define TCP_SYN    2
#define TCP_ACK    16

void life_init(struct life *l, struct core *core, const char *flow, uint64_t from, uint64_t to)
{
	memset(l, 0, sizeof(*l));
	l->core = core;
	l->from = from;
	l->to = to;
	if (flow_parse(flow, &l->cookie, &l->rx))
		*(l->rx ? &l->receiver : &l->sender) = l->cookie;
	/* a TCP socket: others are numbered by their inode */
	l->is_stream = !(l->cookie >> 62 & 1);
}

void life_again(struct life *l, struct core *core)
{
	l->core = core;
	l->rows = l->marks = 0;
	l->acked = 0;
	l->full = l->late = false;
	l->is_again = true;
}

void life_free(struct life *l)
{
	free(l->row);
	free(l->mark);
	free(l->map);
	memset(l, 0, sizeof(*l));
}

/* ---- what happened ---- */

static void keep(struct life *l, const struct life_row *r, uint64_t off, uint64_t len)
{
	if (!len || off >= l->to || off + len <= l->from)
		return;
	if (l->rows == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 256;
		void *more = l->rows < ROWS_MAX ? mg_realloc(l->row, cap * sizeof(*l->row)) : NULL;

		if (!more) {
			l->full = true;
			return;
		}
		l->row = more;
		l->cap = cap;
	}
	l->row[l->rows] = *r;
	l->row[l->rows].off = off;
	l->row[l->rows++].len = len;
}

/*
 * Stores a row for the bytes `off`, `len` of one socket, converted to those of the flow asked for;
 * drops it if none of them was asked for.
 */
static void put(struct life *l, struct life_row *r, uint64_t cookie, uint64_t off, uint64_t len)
{
	r->cookie = cookie;
	r->unit_off = off;
	r->unit_len = len;
	if (cookie == l->cookie && r->at_receiver == l->rx) {
		keep(l, r, off, len);
		return;
	}
	if (l->is_stream) {
		if (cookie == (r->at_receiver ? l->receiver : l->sender))
			keep(l, r, off, len);
		return;
	}
	for (size_t i = 0; i < l->maps && r->at_receiver != l->rx; i++) {
		const struct life_map *m = &l->map[i];
		uint64_t from = off > m->other_off ? off : m->other_off, to = off + len;

		if (to > m->other_off + m->len)
			to = m->other_off + m->len;
		if (m->cookie == cookie && from < to)
			keep(l, r, m->off + (from - m->other_off), to - from);
	}
}

static struct life_row of_event(const struct mg_event *e, bool at_receiver)
{
	return (struct life_row){.what = LIFE_EVENT,
		.event = e->id,
		.t = e->cycles,
		.time_ns = e->time_ns,
		.cpu = e->cpu,
		.at_receiver = at_receiver};
}

/* Returns a row whose time is known by the counter only. */
static struct life_row at_time(const struct life *l, const struct piece *p, enum life_what what,
	uint16_t event, uint64_t t, uint32_t tid)
{
	return (struct life_row){.what = (uint8_t)what,
		.event = event,
		.t = t,
		.time_ns = clockmap_ns(&l->core->clock, t),
		.cpu = -1,
		.tid = tid,
		.at_receiver = p->flow->rx};
}

static void put_piece(struct life *l, struct life_row *r, const struct piece *p)
{
	put(l, r, p->flow->sock->cookie, p->off, p->len);
}

/*
 * Returns the bytes that a call copied one after another from its piece `i` on; an empty piece if
 * it belongs to those before it. Between two pieces another thread's call may have copied some.
 */
static struct piece run_of_pieces(const struct piece *all, uint32_t n, uint32_t i)
{
	struct piece run = all[i];

	for (uint32_t k = i; k-- > 0;) {
		if (all[k].flow != run.flow)
			continue;
		if (all[k].off + all[k].len == run.off)
			return (struct piece){.flow = run.flow};
		break;
	}
	for (uint32_t k = i + 1; k < n; k++) {
		if (all[k].flow != run.flow)
			continue;
		if (all[k].off != run.off + run.len)
			break;
		run.len += all[k].len;
	}
	return run;
}

/* ---- calls: what they copied is known when they end ---- */

static void mark(struct life *l, const struct mg_event *e)
{
	if (!l->mark)
		l->mark = mg_malloc(MARKS_KEPT * sizeof(*l->mark));
	if (l->marks == MARKS_KEPT)
		l->marks = 0;
	if (l->mark)
		l->mark[l->marks++] = (struct life_mark){e->tid, e->cpu, e->cycles, e->time_ns};
}

static void forget_marks(struct life *l, uint32_t tid)
{
	size_t kept = 0;

	for (size_t i = 0; i < l->marks; i++)
		if (l->mark[i].tid != tid)
			l->mark[kept++] = l->mark[i];
	l->marks = kept;
}

/*
 * Sets the event's own time if the row's counter value is that of a stored event. Returns whether
 * it is.
 */
static bool by_mark(const struct life *l, struct life_row *r)
{
	for (size_t i = 0; i < l->marks; i++)
		if (l->mark[i].tid == r->tid && l->mark[i].t == r->t) {
			r->time_ns = l->mark[i].time_ns;
			r->cpu = l->mark[i].cpu;
			return true;
		}
	return false;
}

/* Adds rows for the wakeup of the reader by bytes of this socket, and for its getting the CPU. */
static void wakings(struct life *l, const struct piece *p, uint32_t tid)
{
	struct life_row woken = at_time(l, p, LIFE_WOKEN, 0, p->waking, tid);
	struct life_row runs = at_time(l, p, LIFE_RUNS, 0, p->switch_in, tid);

	if (!p->flow->rx || !p->waking || p->switch_in < p->waking || p->switch_in > p->t)
		return;
	put_piece(l, &woken, p);
	put_piece(l, &runs, p);
}

static void on_exit_of_call(struct life *l, const struct mg_event *e)
{
	const struct kernel_call *k = NULL;
	struct thread *t = NULL;
	uint32_t tid = e->tid;

	HASH_FIND(hh, l->core->tasks.threads, &tid, sizeof(tid), t);
	if (t && t->done.n)
		k = &t->done.call[t->done.n - 1];
	for (uint32_t i = 0; k && k->exit == e->cycles && i < k->pieces; i++) {
		const struct piece *p = &k->piece[i];
		struct piece run = run_of_pieces(k->piece, k->pieces, i);
		struct life_row enter = at_time(l, p, LIFE_ENTERED, k->call, k->enter, tid);
		struct life_row copy = at_time(l, p, LIFE_EVENT,
			p->flow->rx ? MG_EVENT_sock_copy : MG_EVENT_tcp_send, p->t, tid);
		struct life_row leave = at_time(l, p, LIFE_LEFT, k->call, e->cycles, tid);

		by_mark(l, &enter);
		leave.time_ns = e->time_ns;
		leave.cpu = e->cpu;
		leave.called = k->enter;
		put_piece(l, &enter, &run);
		wakings(l, p, tid);
		/* without an event for the copy, its time within the call is not known */
		if (by_mark(l, &copy) && copy.t != enter.t)
			put_piece(l, &copy, p);
		put_piece(l, &leave, &run);
	}
	forget_marks(l, tid);
}

static void on_app_call(struct life *l, const struct mg_event *e, const struct annotation *a)
{
	for (uint32_t i = 0; i < a->pieces; i++) {
		const struct piece *p = &a->piece[i];
		struct piece run = run_of_pieces(a->piece, a->pieces, i);
		struct life_row called =
			at_time(l, p, LIFE_CALLED, e->id, e->call.enter, e->call.tid);
		struct life_row returned =
			at_time(l, p, LIFE_RETURNED, e->id, e->call.exit, e->call.tid);

		returned.called = e->call.enter;
		put_piece(l, &called, &run);
		put_piece(l, &returned, &run);
	}
}

/* ---- packets ---- */

static bool offset_of(const struct flow *f, uint32_t seq, uint64_t *off)
{
	int64_t at = (int64_t)f->anchor.off + (int32_t)(seq - f->anchor.seq);

	*off = (uint64_t)at;
	return f->anchor.set && at >= 0;
}

static const struct range *range_at(const struct ranges *r, uint64_t off)
{
	for (uint32_t i = r->len; i-- > 0;) {
		const struct range *k = ranges_at(r, i);

		if (k->a <= off)
			return k->b > off ? k : NULL;
	}
	return NULL;
}

/* Adds the cause for which the bytes at `off`, which TCP just handed to IP, waited longest. */
static void add_reason(struct life_row *r, const struct core *c, const struct flow *f, uint64_t off)
{
	const struct range *label = f->why ? range_at(&f->why->label, off) : NULL;
	uint64_t copied = core_copied_at(c, f, off), by[WHYS] = {0};

	if (!label)
		return;
	r->waited_for = WHY_OF(label->t);
	r->released_by = RELEASE_OF(label->t);
	if (!copied)
		return;
	held_sum(&f->why->split.held, copied, r->t, by);
	for (uint8_t i = 0; i < WHYS; i++)
		if (by[i] > r->waited) {
			r->waited_for = i;
			r->waited = by[i];
		}
}

/* Adds a row for an event about a range of bytes. */
static void on_range(struct life *l, const struct mg_event *e, const struct annotation *a)
{
	const struct flow *f = a->rx ? &a->sock->rx : &a->sock->tx;
	struct life_row r = of_event(e, a->rx);
	uint64_t off = a->offset, len = a->length;

	if (mg_is_packet(e->id) && a->sock->kind == MG_KIND_tcp && !a->has_offset) {
		r.away = e->packet.via != 0;
		len = e->packet.len;
		if (!offset_of(f, e->packet.seq, &off))
			return;
	} else if (e->id == MG_EVENT_drop && a->sock->kind == MG_KIND_tcp) {
		len = e->drop.len;
		if (!offset_of(f, e->drop.seq, &off))
			return;
	} else if (!a->has_offset) {
		return;
	}
	if (mg_is_packet(e->id))
		r.segments = e->packet.segs;
	else if (e->id == MG_EVENT_dev_done)
		r.segments = e->dev_done.segs;
	else if (e->id == MG_EVENT_tcp_retransmit)
		r.segments = e->tcp_retransmit.segs;
	if (e->id == MG_EVENT_ip_out)
		add_reason(&r, l->core, f, off);
	if (e->id == MG_EVENT_dev_done)
		r.code = e->dev_done.rc;
	if (e->id == MG_EVENT_tcp_retransmit)
		r.code = e->tcp_retransmit.err;
	if (e->id == MG_EVENT_drop)
		memcpy(r.note, e->drop.reason, sizeof(r.note) - 1);
	put(l, &r, a->sock->cookie, off, len);
}

/* Adds a row for an acknowledgement that reaches the sender. */
static void on_ack(struct life *l, const struct mg_event *e, const struct annotation *a)
{
	const struct flow *f = &a->sock->tx;
	struct life_row r = of_event(e, false);
	uint64_t off;

	if ((e->id != MG_EVENT_dev_recv && e->id != MG_EVENT_ip_in) || e->packet.via ||
		(e->packet.tcp_flags & (TCP_ACK | TCP_SYN)) != TCP_ACK ||
		!offset_of(f, e->packet.ack, &off))
		return;
	if (l->acked < f->start)
		l->acked = f->start;
	if (off > f->total) /* the FIN has a sequence number, but is no byte */
		off = f->total;
	if (off <= l->acked)
		return;
	r.what = LIFE_ACKED;
	put(l, &r, a->sock->cookie, l->acked, off - l->acked);
	l->acked = off;
}

/* ---- events ---- */

/*
 * Looks for the other end's socket; its offsets count the same bytes only if both ends count from
 * the connection's start.
 */
static void learn_peer(struct life *l, const struct mg_sock *s)
{
	uint64_t *other = l->rx ? &l->sender : &l->receiver;
	const struct flow *f, *g;

	if (*other || !s->peer)
		return;
	if (s->cookie != l->cookie)
		s = s->peer;
	if (s->cookie != l->cookie || !s->peer ||
		(s->kind != MG_KIND_tcp && s->kind != MG_KIND_unix_stream))
		return;
	l->is_stream = true;
	f = l->rx ? &s->rx : &s->tx;
	g = l->rx ? &s->peer->tx : &s->peer->rx;
	if (f->anchor.relative || g->anchor.relative)
		return;
	*other = s->peer->cookie;
	l->late = g->active.first || s->peer->tx.use.open || s->peer->rx.use.open;
}

/*
 * Notes which sent message a received one was. That is known only on receipt, so the recording is
 * read again for the message's past.
 */
static void learn_message(struct life *l, const struct annotation *a)
{
	const struct flow *from = a->from, *own = l->rx ? &a->sock->rx : from;
	struct life_map m = {.len = a->length};

	if (!from || !a->has_offset || l->is_again || own->sock->cookie != l->cookie ||
		own->rx != l->rx)
		return;
	m.cookie = l->rx ? from->sock->cookie : a->sock->cookie;
	m.off = l->rx ? a->offset : a->from_offset;
	m.other_off = l->rx ? a->from_offset : a->offset;
	if (m.off >= l->to || m.off + m.len <= l->from)
		return;
	if (l->maps == l->maps_cap) {
		size_t cap = l->maps_cap ? l->maps_cap * 2 : 64;
		struct life_map *more = mg_realloc(l->map, cap * sizeof(*more));

		if (!more)
			return;
		l->map = more;
		l->maps_cap = cap;
	}
	l->map[l->maps++] = m;
	*(l->rx ? &l->sender : &l->receiver) = m.cookie;
	l->late = true;
}

void life_event(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct life *l = arg;
	const struct mg_sock *s = a->sock;

	l->first_ns = l->first_ns ? l->first_ns : e->time_ns;
	if (!s)
		return;
	learn_peer(l, s);
	if (e->id == MG_EVENT_sock_received)
		learn_message(l, a);
	l->flow_seen = l->flow_seen || (s->cookie == l->cookie && a->rx == l->rx);
	if (s->cookie == l->sender && a->rx && s->kind == MG_KIND_tcp)
		on_ack(l, e, a);
	if (l->is_stream && s->cookie != (a->rx ? l->receiver : l->sender))
		return;
	switch (e->id) {
	case MG_EVENT_sys_enter:
		forget_marks(l, e->tid);
		mark(l, e);
		break;
	case MG_EVENT_tcp_send: /* the byte ranges are known when the call ends */
	case MG_EVENT_sock_copy:
		mark(l, e);
		break;
	case MG_EVENT_sys_exit:
		on_exit_of_call(l, e);
		break;
	default:
		if (MG_IS_APP(e->id))
			on_app_call(l, e, a);
		else
			on_range(l, e, a);
	}
}
