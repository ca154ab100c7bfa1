/* SPDX-License-Identifier: MIT */
/* Maps sequence numbers to offsets in their byte streams (method, "Byte lineage"). */
#include "socket/anchor.h"

#include "core.h"
#include "event_table.h"
#include "bytes/ranges.h"
#include "bytes/resent.h"
#include "bytes/why_state.h"
#include "socket/peer.h"
#include "socket/socket.h"
#include "task/thread.h"
#include "task/threads.h"

#define TCP_SYN    2
#define WINDOW_MAX (1u << 30)

void anchor_set(struct anchor *a, uint32_t seq, uint64_t off, bool relative)
{
	a->seq = seq;
	a->off = off;
	a->set = true;
	a->relative = relative;
}

/*
 * The distance to a known position is unambiguous within 2^31, since windows are at most 2^30 (RFC
 * 7323, 2.3).
 */
bool flow_place(const struct flow *f, uint32_t seq, uint64_t *off)
{
	const struct anchor *a = &f->anchor;
	int32_t ahead = (int32_t)(seq - a->seq);

	if (!a->set || (ahead < 0 && (uint64_t) - (int64_t)ahead > a->off))
		return false;
	*off = a->off + (uint64_t)(int64_t)ahead;
	return true;
}

bool flow_offset(struct flow *f, uint32_t seq, uint64_t *off)
{
	struct anchor *a = &f->anchor;

	if (!a->set) /* its opening was not seen: offsets count from here */
		anchor_set(a, seq, 0, true);
	if (!flow_place(f, seq, off))
		return false;
	if (*off > a->off) {
		a->seq = seq;
		a->off = *off;
	}
	return true;
}

bool flow_clip(const struct flow *f, uint64_t *off, uint32_t *len)
{
	if (*off >= f->start)
		return true;
	if (*off + *len <= f->start)
		return false;
	*len -= (uint32_t)(f->start - *off);
	*off = f->start;
	return true;
}

uint32_t first_byte(const struct mg_packet *p)
{
	return p->seq + (p->tcp_flags & TCP_SYN ? 1 : 0);
}

/* Returns the number without the FIN's, which belongs to no byte. */
uint32_t before_fin(const struct flow *f, uint32_t seq)
{
	return f->fin.seen && seq == f->fin.seq + 1 ? f->fin.seq : seq;
}

/* Returns the number of the byte before the first one. */
uint32_t anchor_initial(const struct anchor *a)
{
	return a->seq - (uint32_t)a->off - 1;
}

static void shift_pieces(struct kernel_call *k, const struct flow *f, uint64_t by)
{
	for (uint32_t i = 0; i < k->pieces; i++)
		if (k->piece[i].flow == f)
			k->piece[i].off += by;
}

static void shift_span(struct span *s, const struct flow *f, uint64_t by)
{
	if (s->sock == f->sock->cookie && s->rx == f->rx)
		s->off += by;
}

/*
 * Shifts all offsets of a flow, which counted from the recording's begin until that offset became
 * known.
 */
static void rebase(struct core *c, struct flow *f, uint64_t by)
{
	struct ranges *rest[] = {&f->copies.again, &f->paired.call, &f->paired.x, &f->paired.r};
	struct thread *t, *tmp;

	f->anchor.off += by;
	f->anchor.relative = false;
	f->start += by;
	f->total += by;
	f->done += by;
	f->ack.to += by;
	f->ack.before += by;
	f->paired.base += by;
	if (f->why)
		why_shift(f->why, by);
	resent_shift(f, by);
	for (uint32_t i = 0; i < f->call_ends.len; i++)
		*call_ends_at(&f->call_ends, i) += by;
	for (int i = 0; i < TX_LAYERS; i++)
		ranges_shift(&f->layer[i], by);
	for (size_t i = 0; i < sizeof(rest) / sizeof(rest[0]); i++)
		ranges_shift(rest[i], by);
	HASH_ITER (hh, c->tasks.threads, t, tmp) {
		shift_pieces(&t->now, f, by);
		shift_pieces(&t->claimed, f, by);
		for (uint32_t i = 0; i < t->done.n; i++)
			shift_pieces(&t->done.call[i], f, by);
		shift_span(&t->received, f, by);
	}
	for (uint32_t i = 0; i < c->marked.marks_n; i++) {
		shift_span(&c->marked.marks[i].sent, f, by);
		shift_span(&c->marked.marks[i].received, f, by);
	}
}

/* The receiver's counters decide; the difference is between two positions within a window. */
bool anchors_agree(const struct flow *tx, const struct flow *rx)
{
	const struct anchor *t = &tx->anchor, *r = &rx->anchor;
	uint64_t ahead = (uint64_t)(int64_t)(int32_t)(t->seq - r->seq);

	if (!t->set || !r->set || r->relative)
		return false;
	if (!t->relative)
		return anchor_initial(t) == anchor_initial(r);
	/* the sender may be ahead of the receiver, but not before byte 0 */
	return (int64_t)ahead >= 0 || -ahead <= r->off;
}

void anchor_by_peer(struct core *c, struct flow *tx, const struct flow *rx)
{
	uint64_t ahead = (uint64_t)(int64_t)(int32_t)(tx->anchor.seq - rx->anchor.seq);

	if (tx->anchor.relative)
		rebase(c, tx, rx->anchor.off + ahead - tx->anchor.off);
}

static void begin_at(struct flow *f, uint64_t off)
{
	f->start = f->total = f->done = off;
}

/*
 * Returns how many of the bytes received so far have arrived since the recording began, as far as
 * that is known: the call in which the connection is announced found nothing to read, and waited.
 */
static uint64_t arrived_meanwhile(struct core *c, const struct mg_event *e)
{
	const struct mg_sock_open *p = &e->sock_open;
	const struct thread *t = e->cpu < 0 ? NULL : thread_find(c, e->tid);
	const struct kernel_call *k = t && t->in_call ? &t->now : NULL;
	uint32_t since;

	/* a socket that nobody had looked at has no number yet as the call begins */
	if (!k || (k->cookie ? k->cookie != p->sock : k->kind != MG_KIND_tcp || t->in_softirq) ||
		mg_syscall_direction(k->call) != MG_DIR_RX || !k->blocked_times || k->locked_out)
		return 0;
	since = p->rcv_nxt - k->enter_seq;
	return since <= WINDOW_MAX && since <= p->bytes_received ? since : 0;
}

/*
 * Anchors a connection older than the recording: bytes_acked gives the offset of snd_una, minus the
 * SYN that an active opener counts; whether it does follows from the bytes sent, and is believed
 * only if 0 or 1: then it also tells which end opened the connection. The same event comes when a
 * connection opens whose SYN carried data.
 */
void sock_on_open(struct core *c, const struct mg_event *e)
{
	const struct mg_sock_open *p = &e->sock_open;
	struct mg_sock *s = sock_get(c, p->sock);
	uint32_t in_flight = p->snd_nxt - p->snd_una;
	uint32_t syn = (uint32_t)p->bytes_acked - (p->sent_once - in_flight);
	bool opening;

	if (!s || s->met.opened)
		return;
	if (!p->rcv_nxt && !p->bytes_received &&
		!p->bytes_acked) /* announced while it was being opened */
		return;
	s->met.opened = true;
	opening = s->state == MG_TCP_SYN_SENT;
	anchor_set(&s->rx.anchor, p->rcv_nxt, p->bytes_received, false);
	if (syn <= 1 && syn <= p->bytes_acked) {
		anchor_set(&s->tx.anchor, p->snd_una, p->bytes_acked - syn, false);
		s->met.counted = syn ? OPENER_SELF : OPENER_PEER;
	} else {
		anchor_set(&s->tx.anchor, p->snd_una, 0, true);
	}
	if (!opening) {
		s->met.late = true;
		begin_at(&s->rx, s->rx.anchor.off - arrived_meanwhile(c, e));
		begin_at(&s->tx, s->tx.anchor.off);
	}
	for (int i = 0; i < TX_LAYERS; i++)
		ranges_drop(&s->tx.layer[i], s->tx.done);
	if (s->tx.anchor.relative)
		return;
	s->ends = (struct ends){anchor_initial(&s->tx.anchor), anchor_initial(&s->rx.anchor)};
	peer_link(c, s);
}

/* Handles the state that follows: bytes written before the recording do not count. */
void sock_on_late_state(struct mg_sock *s, const struct mg_sock_state *p)
{
	uint64_t off;

	s->met.late = false;
	/* a FIN has a number, as a SYN has, and is no byte either */
	if (p->now != MG_TCP_ESTABLISHED && p->now != MG_TCP_CLOSE_WAIT)
		s->met.counted = 0;
	/* it opens just now, or is used before with Fast Open: the SYN's data begin at byte 0 */
	if (p->opener || p->now == MG_TCP_SYN_RECV) {
		if (s->rx.start > s->rx.handshake.request_end)
			s->rx.handshake.request_end = s->rx.start;
		begin_at(&s->rx, 0);
		return;
	}
	if (!flow_offset(&s->tx, p->write_seq, &off) || off <= s->tx.start)
		return;
	begin_at(&s->tx, off);
	for (int i = 0; i < TX_LAYERS; i++)
		ranges_drop(&s->tx.layer[i], off);
}
