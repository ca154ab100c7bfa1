/* SPDX-License-Identifier: MIT */
/*
 * Finds why bytes waited in the send buffer. When a segment is handed to IP, the context shows what
 * released it, and TCP's windows just before show what had held it. Linux's own tests are repeated:
 * tcp_cwnd_test, tcp_snd_wnd_test, tcp_nagle_check with Minshall's rule. What does not follow from
 * them is reported as unknown.
 */
#include "stream/why.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "event_table.h"
#include "bytes/held.h"
#include "bytes/ranges.h"
#include "facts/why_reasons.h"
#include "socket/anchor.h"
#include "socket/socket.h"
#include "stream/why_parts.h"
#include "task/threads.h"

#define ESTABLISHED 1

static struct why *why_of(struct flow *f)
{
	if (!f->why)
		f->why = mg_calloc(1, sizeof(*f->why));
	return f->why;
}

/* ---- in flight ---- */

static void fly(struct why *w, uint64_t end, uint32_t segs)
{
	if (w->len == (w->cap ? w->cap : FLIGHT_OWN)) {
		uint32_t cap = w->cap ? w->cap * 2 : 16;
		struct in_flight *p = mg_calloc(cap, sizeof(*p));

		if (!p)
			return;
		for (uint32_t i = 0; i < w->len; i++)
			p[i] = *why_in_flight(w, i);
		if (w->cap)
			free(w->flight);
		w->flight = p;
		w->head = 0;
		w->cap = cap;
	}
	*why_in_flight(w, w->len++) = (struct in_flight){end, segs};
	w->segs_out += segs;
}

static void land(struct why *w, uint64_t una)
{
	while (w->len && why_in_flight(w, 0)->end <= una) {
		uint32_t segs = why_in_flight(w, 0)->segs;

		w->segs_out -= segs < w->segs_out ? segs : w->segs_out;
		w->head = (w->head + 1) & ((w->cap ? w->cap : FLIGHT_OWN) - 1);
		w->len--;
	}
	if (!w->len)
		w->segs_out = w->head = 0;
}

/* ---- TCP's events ---- */

static void tell(struct flow *f, uint32_t snd_una, uint32_t snd_wnd, uint32_t cwnd)
{
	struct why *w = f->why;
	uint64_t una;

	if (!flow_offset(f, snd_una, &una))
		return;
	land(w, una);
	w->una = una;
	w->window_end = una + snd_wnd;
	w->cwnd = cwnd;
	w->valid = true;
	w->arrived = w->by_room = w->by_call = w->has_room = false;
}

void why_on_write(struct flow *f, struct thread *t, const struct mg_tcp_send *p, uint64_t now)
{
	struct why *w = why_of(f);
	uint64_t next, unsent;

	t->segment_of = 0;
	if (!w)
		return;
	split_due(w);
	tell(f, p->snd_una, p->snd_wnd, p->cwnd);
	w->tried = now;
	w->by_call = w->valid;
	if (flow_offset(f, p->seq, &next) && flow_offset(f, p->snd_nxt, &unsent))
		split_on_write(w, unsent, next, next + p->left, now);
	if (p->snd_nxt == p->seq)
		flow_offset(f, p->seq, &w->first_unsent);
	if (!t->in_call || t->now.copied)
		return;
	w->nagle_before = w->nagle;
	w->nagle = t->now.nagle;
	w->mss = t->now.mss;
}

void why_on_written(struct flow *f, uint32_t seq)
{
	uint64_t end;

	if (f->why && flow_offset(f, seq, &end))
		split_on_written(f->why, end);
}

/*
 * Call it when TCP processes an acknowledgement: it then tries to send, for the last time before
 * now.
 */
static void tries_by_ack(struct why *w, uint64_t now)
{
	w->tried_before = w->tried;
	w->tried = now;
}

void why_on_segment(struct mg_sock *s, struct thread *t, const struct mg_tcp_recv *p, uint64_t now)
{
	/*
	 * in a thread's own context it comes from the backlog, when the thread releases the socket
	 */
	if (t && !t->in_softirq)
		t->segment_of = s->cookie;
	if (!s->tx.why)
		return;
	split_due(s->tx.why);
	tries_by_ack(s->tx.why, now);
	tell(&s->tx, p->snd_una, p->snd_wnd, p->cwnd);
	s->tx.why->split.due = now; /* the state events that follow belong to that time, too */
}

void why_on_room(struct core *c, const struct mg_tcp_room *p)
{
	struct mg_sock *s = sock_find(c, p->sock);
	struct why *w = s ? s->tx.why : NULL;
	uint64_t una;

	if (!w || !flow_offset(&s->tx, p->snd_una, &una))
		return;
	w->room.una = una;
	w->room.window_end = una + p->snd_wnd;
	w->room.cwnd = p->cwnd;
	w->room.segs_out = p->in_flight + w->last_segs;
	w->last_segs = 0;
	w->has_room = true;
}

/* Notes that what is sent from here on had no room by the last known windows. */
static void read_room(struct why *w)
{
	if (w->by_call)
		w->by_room = true;
	w->arrived = true;
	w->by_call = false;
	if (!w->has_room)
		return;
	w->una = w->room.una;
	w->window_end = w->room.window_end;
	w->cwnd = w->room.cwnd;
	w->segs_out = w->room.segs_out;
	w->has_room = false;
	w->valid = w->by_room = true;
}

void why_on_arrival(struct mg_sock *s, struct thread *t, uint64_t now)
{
	struct why *w = s->tx.why;
	bool known = w->has_room || w->by_call;

	split_due(w);
	read_room(w);
	if (!s->state || s->state == ESTABLISHED)
		return;
	/* a thread that writes frames to a tun device processes them itself */
	if (t && !t->in_softirq && !t->in_call)
		t->segment_of = s->cookie;
	tries_by_ack(w, now);
	split_on_arrival(w, known, s->tx.ack.no_window, now);
}

/* Sets the segments in flight, which need not be counted at these levels. */
void why_on_state(struct flow *f, const struct mg_tcp_state *p)
{
	if (f->why)
		f->why->segs_out = p->packets_out + p->retrans_out;
}

/* ---- release of a segment ---- */

static enum why_release of_softirq(unsigned int number)
{
	switch (number) {
	case MG_SOFTIRQ_NET_RX:
		return RELEASE_ACK;
	case MG_SOFTIRQ_TIMER:
		return RELEASE_TIMER;
	case MG_SOFTIRQ_HRTIMER:
		return RELEASE_PACER;
	case MG_SOFTIRQ_TASKLET:
	case MG_SOFTIRQ_HI:
		return RELEASE_TX_DONE;
	default:
		return RELEASE_NOT_KNOWN;
	}
}

const struct piece *why_own_piece(const struct kernel_call *k, uint64_t off)
{
	for (uint32_t i = k->pieces; i-- > 0;) {
		const struct piece *p = &k->piece[i];

		if (p->off <= off) /* the last piece's length is not known yet */
			return i + 1 == k->pieces || off < p->off + p->len ? p : NULL;
	}
	return NULL;
}

static enum why_release of_thread(const struct thread *t, const struct mg_sock *s, uint64_t off)
{
	const struct kernel_call *k;

	if (!t)
		return RELEASE_NOT_KNOWN;
	if (t->segment_of == s->cookie)
		return RELEASE_ACK;
	k = &t->now;
	if (!t->in_call || k->cookie != s->cookie || mg_syscall_direction(k->call) == MG_DIR_RX)
		return RELEASE_NOT_KNOWN;
	return why_own_piece(k, off) ? RELEASE_OWN_CALL : RELEASE_LATER_CALL;
}

static enum why_release release_of(const struct core *c, const struct thread *t,
	const struct mg_sock *s, const struct mg_packet *p, uint64_t off)
{
	if (!core_observes(c, MG_EVENT_softirq_entry))
		return RELEASE_NOT_KNOWN;
	if (p->context >= MG_CONTEXT_SOFTIRQ)
		return of_softirq(p->context - MG_CONTEXT_SOFTIRQ);
	if (p->context == MG_CONTEXT_THREAD)
		return of_thread(t, s, off);
	/* an older trace: known for traced threads only */
	if (!t || !t->in_call)
		return RELEASE_NOT_KNOWN;
	return t->in_softirq ? of_softirq(t->softirq) : of_thread(t, s, off);
}

/* ---- cause of its wait ---- */

/* Returns why a segment that is not full waits: for more data to send with it, or not known. */
enum why_reason why_of_small(const struct why *w, uint8_t nagle, uint64_t una)
{
	if (!(nagle & NAGLE_KNOWN))
		return WHY_NOT_KNOWN;
	if (nagle & (NAGLE_CORK | NAGLE_MORE))
		return WHY_CORK;
	if (!(nagle & NAGLE_OFF) && w->small_end > una)
		return WHY_NAGLE;
	return WHY_NOT_KNOWN;
}

/*
 * Returns whether a segment that a timer sent ends, with bytes behind it, before it is full: a
 * probe of a window with less room than a segment.
 */
static bool is_cut_off(const struct why *w, const struct mg_packet *p, uint64_t off)
{
	return p->len < w->mss && off + p->len < w->split.copied;
}

/* Returns the window with less room; of equal ones, the one that Linux tests first. */
static enum why_reason of_windows(const struct why *w, const struct mg_packet *p, uint64_t off)
{
	uint64_t room = w->window_end > off ? w->window_end - off : 0;
	uint64_t may = w->cwnd > w->segs_out ? w->cwnd - w->segs_out : 0;
	bool no_window = room < p->len, no_cwnd = may < p->segs;

	if (no_window && no_cwnd)
		return room < may * (p->gso_size ? p->gso_size : w->mss) ? WHY_WINDOW : WHY_CWND;
	return no_window ? WHY_WINDOW : no_cwnd ? WHY_CWND : WHY_NOT_KNOWN;
}

/*
 * Returns the cause of a wait for the device: the kernel corks a small segment only if it is the
 * first to be sent.
 */
enum why_reason why_of_device(const struct why *w, uint64_t off, bool full)
{
	return full || off != w->first_unsent ? WHY_TSQ : WHY_AUTOCORK;
}

/*
 * Returns whether no driver had been asked to transmit the preceding bytes when TCP last tried to
 * send.
 */
bool why_lay_behind_others(
	const struct core *c, const struct mg_sock *s, uint64_t off, enum why_release release)
{
	const struct ranges *r = &s->tx.layer[TX_XMIT];
	const struct why *w = s->tx.why;
	const struct range *last = r->len ? ranges_at(r, r->len - 1) : NULL;
	uint64_t tried = release == RELEASE_ACK ? w->tried_before : w->tried;

	if (!mg_events_have(core_hooked(c, s->netns), MG_EVENT_dev_xmit))
		return false;
	return ranges_end(r) < off || (tried && last && last->a < off && last->t > tried);
}

/*
 * Finds the cause by elimination. An acknowledgement in a softirq finds the socket free: TCP has
 * tried to send whatever was written. Of its tests (tcp_write_xmit) only that of small queues is
 * left then, or it did not try because of autocorking; several segments it may also have deferred
 * to send more at once. Preceding bytes may be with the device by now: the kernel notifies TCP
 * later than the peer acknowledges.
 */
static enum why_reason by_elimination(const struct core *c, const struct thread *t,
	const struct mg_sock *s, const struct mg_packet *p, uint64_t off, bool full)
{
	bool softirq = p->context >= MG_CONTEXT_SOFTIRQ || (!p->context && t && t->in_softirq);

	if (!softirq || p->segs > 1 || !s->tx.why->mss || !(s->tx.why->nagle & NAGLE_KNOWN) ||
		!why_lay_behind_others(c, s, off, RELEASE_ACK))
		return WHY_NOT_KNOWN;
	return why_of_device(s->tx.why, off, full);
}

static enum why_reason reason_of(const struct core *c, const struct thread *t,
	const struct mg_sock *s, const struct mg_packet *p, uint64_t off, enum why_release release)
{
	const struct why *w = s->tx.why;
	bool full = p->segs > 1 || p->len >= w->mss;
	uint64_t una = w->una > s->tx.ack.to ? w->una : s->tx.ack.to;
	enum why_reason held = WHY_NOT_KNOWN;

	switch (release) {
	case RELEASE_OWN_CALL: /* if it slept since, something had kept it from sending at once */
		return t->wake.ran > why_own_piece(&t->now, off)->t ? WHY_NOT_KNOWN : WHY_IMMEDIATE;
	case RELEASE_LATER_CALL:
		return why_of_small(w, t->now.copied ? w->nagle_before : w->nagle, una);
	case RELEASE_PACER:
		return WHY_PACING;
	case RELEASE_TX_DONE:
		return w->mss ? why_of_device(w, off, full) : WHY_NOT_KNOWN;
	case RELEASE_ACK:
		/* TCP has events for segments in established connections only */
		if (!w->by_room &&
			(!w->valid || w->arrived || (s->state && s->state != ESTABLISHED)))
			return WHY_NOT_KNOWN;
		held = of_windows(w, p, off);
		if (held == WHY_NOT_KNOWN && w->mss && !full)
			held = why_of_small(w, w->nagle, w->una);
		return held == WHY_NOT_KNOWN ? by_elimination(c, t, s, p, off, full) : held;
	case RELEASE_TIMER:
		if (s->tx.ack.no_window || is_cut_off(w, p, off))
			return WHY_WINDOW;
		return w->mss && !full ? why_of_small(w, w->nagle, una) : WHY_NOT_KNOWN;
	default:
		return WHY_NOT_KNOWN;
	}
}

/* Returns how far the bytes from `off` on all belong to the running call, or all to others. */
static uint64_t of_one_writer(
	const struct kernel_call *k, enum why_release release, uint64_t off, uint64_t end)
{
	const struct piece *own = release == RELEASE_OWN_CALL ? why_own_piece(k, off) : NULL;

	if (own && own != &k->piece[k->pieces - 1] && own->off + own->len < end)
		return own->off + own->len;
	for (uint32_t i = 0; release == RELEASE_LATER_CALL && i < k->pieces; i++)
		if (k->piece[i].off > off && k->piece[i].off < end)
			end = k->piece[i].off;
	return end;
}

void why_on_out(struct core *c, const struct thread *t, struct mg_sock *s,
	const struct mg_packet *p, uint64_t off, uint64_t now)
{
	uint64_t end = off + p->len, fresh = 0;
	struct why *w = why_of(&s->tx);
	struct why_found first = {WHY_NOT_KNOWN, RELEASE_NOT_KNOWN};

	if (!w)
		return;
	split_due(w);
	for (uint64_t at = off, to; at < end; at = to) {
		enum why_release release = release_of(c, t, s, p, at);
		enum why_reason reason = reason_of(c, t, s, p, at, release);

		if (at == off)
			first = (struct why_found){reason, release};
		to = t ? of_one_writer(&t->now, release, at, end) : end;
		fresh += ranges_add(&w->label, at, to, WHY_LABEL(reason, release));
	}
	if (!fresh) /* sent again */
		return;
	split_on_out(c, t, s, p, off, first, now);
	w->tried = now;
	fly(w, end, p->segs);
	/* in established connections TCP counts them before the next tcp_room */
	w->last_segs = s->state == ESTABLISHED ? 0 : p->segs;
	if (w->mss && p->len < (uint64_t)w->mss * p->segs)
		w->small_end = end;
}

uint64_t core_copied_at(const struct core *c, const struct flow *f, uint64_t off)
{
	const struct ranges *r = &f->layer[TX_COPY];
	const struct thread *t;

	for (uint32_t i = r->len; i-- > 0;)
		if (ranges_at(r, i)->a <= off && ranges_at(r, i)->b > off)
			return ranges_at(r, i)->t;
	for (t = c->tasks.threads; t;
		t = t->hh.next) { /* written by a call that has not returned */
		const struct piece *p = t->in_call && t->now.cookie == f->sock->cookie
						? why_own_piece(&t->now, off)
						: NULL;

		if (p)
			return p->t;
	}
	return 0;
}

/* ---- duration ---- */

void why_times(struct flow *f, uint64_t from, uint64_t to, uint64_t by[WHYS])
{
	struct held_time *h = f->why ? &f->why->split.held : NULL;
	enum why_reason one;

	memset(by, 0, WHYS * sizeof(*by));
	if (from == to)
		return;
	if (!h)
		by[WHY_NOT_KNOWN] = to - from;
	else if (held_one(h, from, to, &one))
		by[one] = to - from;
	else
		held_divide(h, from, to, by);
}
