/* SPDX-License-Identifier: MIT */
#include "byte_life.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event_table.h"

#define ROWS_MAX 500000
#define TCP_SYN  2
#define TCP_ACK  16

bool flow_parse(const char *id, uint64_t *cookie, bool *rx)
{
	bool inode = strncmp(id, "ino:", 4) == 0;
	char *end;

	id += inode ? 4 : 0;
	if (*id < '0' || *id > '9')
		return false;
	*cookie = strtoull(id, &end, 10) | (inode ? 1ull << 62 : 0);
	*rx = strcmp(end, "/rx") == 0;
	return *rx || strcmp(end, "/tx") == 0;
}

bool range_parse(const char *text, uint64_t *from, uint64_t *to)
{
	uint64_t second;
	char *end, sign;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*from = strtoull(text, &end, 10);
	sign = *end++;
	if ((sign != '-' && sign != '+') || *end < '0' || *end > '9')
		return false;
	second = strtoull(end, &end, 10);
	if (errno || *end)
		return false;
	*to = sign == '-' ? second + 1 : *from + second;
	return *to > *from;
}

void life_init(struct life *l, struct core *core, const char *flow, uint64_t from, uint64_t to)
{
	memset(l, 0, sizeof(*l));
	l->core = core;
	l->from = from;
	l->to = to;
	if (flow_parse(flow, &l->cookie, &l->rx))
		*(l->rx ? &l->receiver : &l->sender) = l->cookie;
}

void life_again(struct life *l, struct core *core)
{
	l->core = core;
	l->rows = l->marks = 0;
	l->acked = 0;
	l->full = l->late = false;
}

void life_free(struct life *l)
{
	free(l->row);
	free(l->mark);
	memset(l, 0, sizeof(*l));
}

/* ---- what happened ---- */

static struct life_row *add(struct life *l, uint64_t off, uint64_t len)
{
	struct life_row *r;

	if (!len || off >= l->to || off + len <= l->from)
		return NULL;
	if (l->rows == l->cap) {
		size_t cap = l->cap ? l->cap * 2 : 256;

		r = l->rows < ROWS_MAX ? realloc(l->row, cap * sizeof(*r)) : NULL;
		if (!r) {
			l->full = true;
			return NULL;
		}
		l->row = r;
		l->cap = cap;
	}
	r = &l->row[l->rows++];
	memset(r, 0, sizeof(*r));
	r->off = off;
	r->len = len;
	r->cpu = -1;
	return r;
}

static struct life_row *add_event(
	struct life *l, const struct mg_event *e, uint64_t off, uint64_t len, bool at_receiver)
{
	struct life_row *r = add(l, off, len);

	if (!r)
		return NULL;
	r->what = LIFE_EVENT;
	r->event = e->id;
	r->t = e->cycles;
	r->time_ns = e->time_ns;
	r->cpu = e->cpu;
	r->at_receiver = at_receiver;
	return r;
}

/* At a time that is known by the counter only. */
static void add_at(struct life *l, const struct piece *p, enum life_what what, uint16_t event,
	uint64_t t, uint32_t tid, uint64_t called)
{
	struct life_row *r = add(l, p->off, p->len);

	if (!r)
		return;
	r->what = what;
	r->event = event;
	r->t = t;
	r->time_ns = clockmap_ns(&l->core->clock, t);
	r->tid = tid;
	r->called = called;
	r->at_receiver = p->flow->rx;
}

/* ---- calls: what they copied is known when they end ---- */

static void mark(struct life *l, const struct mg_event *e)
{
	if (l->marks == l->marks_cap) {
		size_t cap = l->marks_cap ? l->marks_cap * 2 : 64;
		struct life_mark *more = realloc(l->mark, cap * sizeof(*more));

		if (!more)
			return;
		l->mark = more;
		l->marks_cap = cap;
	}
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

/* The event's own time, where the row has one by the counter. */
static void by_mark(const struct life *l, struct life_row *r)
{
	for (size_t i = 0; i < l->marks; i++)
		if (l->mark[i].tid == r->tid && l->mark[i].t == r->t) {
			r->time_ns = l->mark[i].time_ns;
			r->cpu = l->mark[i].cpu;
		}
}

static bool is_ours(const struct life *l, const struct piece *p)
{
	return p->flow->sock->cookie == (p->flow->rx ? l->receiver : l->sender);
}

/* Woken by bytes of this socket, and then it got the CPU. */
static void wakings(struct life *l, const struct piece *p, uint32_t tid)
{
	if (!p->flow->rx || !p->waking || p->switch_in < p->waking || p->switch_in > p->t)
		return;
	add_at(l, p, LIFE_WOKEN, 0, p->waking, tid, 0);
	add_at(l, p, LIFE_RUNS, 0, p->switch_in, tid, 0);
}

static void on_exit_of_call(struct life *l, const struct mg_event *e)
{
	const struct kernel_call *k = NULL;
	struct thread *t = NULL;
	uint32_t tid = e->tid;

	HASH_FIND(hh, l->core->threads, &tid, sizeof(tid), t);
	if (t && t->ended_n)
		k = &t->ended[t->ended_n - 1];
	for (uint32_t i = 0; k && k->exit == e->cycles && i < k->pieces; i++) {
		const struct piece *p = &k->piece[i];
		size_t from = l->rows;
		struct life_row *r;

		if (!is_ours(l, p))
			continue;
		add_at(l, p, LIFE_ENTERED, k->call, k->enter, tid, 0);
		wakings(l, p, tid);
		add_at(l, p, LIFE_EVENT, p->flow->rx ? MG_EVENT_sock_copy : MG_EVENT_tcp_send, p->t,
			tid, 0);
		add_at(l, p, LIFE_LEFT, k->call, e->cycles, tid, k->enter);
		for (size_t n = from; n < l->rows; n++) {
			r = &l->row[n];
			if (r->what == LIFE_LEFT) {
				r->time_ns = e->time_ns;
				r->cpu = e->cpu;
			} else {
				by_mark(l, r);
			}
		}
	}
	forget_marks(l, tid);
}

static void on_app_call(struct life *l, const struct mg_event *e, const struct annotation *a)
{
	for (uint32_t i = 0; i < a->pieces; i++) {
		const struct piece *p = &a->piece[i];

		if (!is_ours(l, p))
			continue;
		add_at(l, p, LIFE_CALLED, e->id, e->call.enter, e->call.tid, 0);
		add_at(l, p, LIFE_RETURNED, e->id, e->call.exit, e->call.tid, e->call.enter);
	}
}

/* ---- packets ---- */

static bool offset_of(const struct flow *f, uint32_t seq, uint64_t *off)
{
	int64_t at = (int64_t)f->anchor.off + (int32_t)(seq - f->anchor.seq);

	*off = (uint64_t)at;
	return f->anchor.set && at >= 0;
}

static bool is_packet(uint16_t id)
{
	switch (id) {
	case MG_EVENT_ip_out:
	case MG_EVENT_ip_post:
	case MG_EVENT_dev_queue:
	case MG_EVENT_dev_xmit:
	case MG_EVENT_ip_forward:
	case MG_EVENT_dev_gro:
	case MG_EVENT_ip_recv:
	case MG_EVENT_nf_pre_end:
	case MG_EVENT_nf_in_begin:
	case MG_EVENT_dev_recv:
	case MG_EVENT_ip_in:
		return true;
	default:
		return false;
	}
}

/* Why the bytes at `off`, which TCP just handed to IP, had waited. */
static void add_reason(struct life_row *r, const struct why *w, uint64_t off)
{
	for (uint32_t i = w ? w->label.len : 0; i-- > 0;) {
		const struct range *k = &w->label.v[w->label.head + i];

		if (k->a > off || k->b <= off)
			continue;
		r->waited_for = WHY_OF(k->t);
		r->released_by = RELEASE_OF(k->t);
		return;
	}
}

/* The socket at whose end it happened is the sender's or the receiver's of these bytes. */
static void on_range(struct life *l, const struct mg_event *e, const struct annotation *a)
{
	const struct flow *f = a->rx ? &a->sock->rx : &a->sock->tx;
	uint64_t off = a->offset, len = a->length;
	bool away = false;
	struct life_row *r;

	if (is_packet(e->id) && a->sock->kind == MG_KIND_tcp && !a->has_offset) {
		away = e->packet.via != 0;
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
	r = add_event(l, e, off, len, a->rx);
	if (!r)
		return;
	r->away = away;
	if (is_packet(e->id))
		r->segments = e->packet.segs;
	else if (e->id == MG_EVENT_dev_done)
		r->segments = e->dev_done.segs;
	else if (e->id == MG_EVENT_tcp_retransmit)
		r->segments = e->tcp_retransmit.segs;
	if (e->id == MG_EVENT_ip_out)
		add_reason(r, f->why, off);
	if (e->id == MG_EVENT_dev_done)
		r->code = e->dev_done.rc;
	if (e->id == MG_EVENT_tcp_retransmit)
		r->code = e->tcp_retransmit.err;
	if (e->id == MG_EVENT_drop)
		memcpy(r->note, e->drop.reason, sizeof(r->note) - 1);
}

/* What comes back to the sender says how far the receiver's TCP has got. */
static void on_ack(struct life *l, const struct mg_event *e, const struct annotation *a)
{
	const struct flow *f = &a->sock->tx;
	struct life_row *r;
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
	r = add_event(l, e, l->acked, off - l->acked, false);
	if (r)
		r->what = LIFE_ACKED;
	l->acked = off;
}

/* ---- events ---- */

/* Offsets of both ends count the same bytes only if both count from the connection's begin. */
static void learn_peer(struct life *l, const struct mg_sock *s)
{
	uint64_t *other = l->rx ? &l->sender : &l->receiver;
	const struct flow *f, *g;

	if (*other || !s->peer)
		return;
	if (s->cookie != l->cookie)
		s = s->peer;
	if (s->cookie != l->cookie || !s->peer)
		return;
	f = l->rx ? &s->rx : &s->tx;
	g = l->rx ? &s->peer->tx : &s->peer->rx;
	if (s->kind == MG_KIND_tcp && (f->anchor.relative || g->anchor.relative))
		return;
	*other = s->peer->cookie;
	l->late = g->first_t || s->peer->tx.open_calls || s->peer->rx.open_calls;
}

void life_event(void *arg, const struct mg_event *e, const struct annotation *a)
{
	struct life *l = arg;
	const struct mg_sock *s = a->sock;

	if (!l->first_ns)
		l->first_ns = e->time_ns;
	if (!s)
		return;
	learn_peer(l, s);
	l->flow_seen = l->flow_seen || (s->cookie == l->cookie && a->rx == l->rx);
	if (s->cookie != l->sender && s->cookie != l->receiver)
		return;
	if (s->cookie == l->sender && a->rx && s->kind == MG_KIND_tcp)
		on_ack(l, e, a);
	if (s->cookie != (a->rx ? l->receiver : l->sender))
		return;
	switch (e->id) {
	case MG_EVENT_sys_enter:
		forget_marks(l, e->tid);
		mark(l, e);
		break;
	case MG_EVENT_tcp_send: /* their ranges are known when the call ends */
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
