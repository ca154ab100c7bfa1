/* SPDX-License-Identifier: MIT */
/*
 * UNIX sockets: the sender's call itself puts buffers into the receiver's queue, and each reading
 * call reports the buffers it copies from. A stream's buffers may be read in parts.
 */
#include "message/unix.h"

#include "core.h"
#include "event_table.h"
#include "clock/clockmap.h"
#include "message/arrival.h"
#include "message/datagram_read.h"
#include "message/parcel.h"
#include "socket/socket.h"
#include "task/piece.h"
#include "task/threads.h"

#define GIVE_UP_NS 20000000
#define EARLY_MAX  512 /* messages; as many small ones as a send buffer holds */

bool is_unix(const struct mg_sock *s)
{
	return s->kind == MG_KIND_unix_stream || s->kind == MG_KIND_unix_dgram ||
	       s->kind == MG_KIND_unix_seqpacket;
}

/* Returns the sender: the thread that makes the buffer ready, within its call. */
static struct mg_sock *sender(struct core *c, const struct thread *t, const struct mg_sock *s)
{
	struct mg_sock *from;

	if (!t || !t->in_call || t->in_softirq || t->now.cookie == s->cookie ||
		mg_syscall_direction(t->now.call) != MG_DIR_TX)
		return NULL;
	from = sock_find(c, t->now.cookie);
	return from && is_unix(from) ? from : NULL;
}

static struct piece *send(struct thread *t, struct mg_sock *from, uint32_t len, uint64_t now)
{
	struct kernel_call *k = &t->now;
	uint64_t since = k->message.since ? k->message.since : k->enter;
	struct queues *q = queues_of(from);
	struct parcel *p = q ? parcel_new(&from->tx, q->sent, len) : NULL;
	struct piece *piece;

	if (!p)
		return NULL;
	p->handed = now;
	p->sent = len != LEN_UNKNOWN;
	if (p->sent)
		q->sent += len;
	piece = call_add_piece(k, &from->tx, p->off, len, since);
	k->message.since = now;
	if (piece)
		piece->parcel = p;
	else
		parcel_put(p);
	return piece;
}

/* Keeps a message whose receiver has no socket yet, or is not followed. */
static void keep_early(struct mg_sock *s, struct parcel *p)
{
	struct parcel **at = &s->queues->early;

	if (s->kind == MG_KIND_unix_dgram || s->queues->earlies == EARLY_MAX)
		return;
	while (*at)
		at = &(*at)->later;
	*at = parcel_get(p);
	s->queues->earlies++;
}

/* Moves what the peer has sent before accept() into the queue, with the times it was sent. */
static void accepted(struct mg_sock *s)
{
	struct queues *theirs = s->peer ? s->peer->queues : NULL, *q = queues_of(s);
	struct arrival *x;
	struct parcel *p;

	s->met.accepted = true;
	while (q && theirs && theirs->early) {
		p = theirs->early;
		theirs->early = p->later;
		theirs->earlies--;
		p->later = NULL;
		x = arrival_push(q, p->buffer, p->len);
		if (!x) {
			parcel_put(p);
			continue;
		}
		x->ready = p->handed;
		x->is_early = !p->buffer;
		x->part.len = p->len;
		x->part.from = p;
		q->came += p->len;
	}
}

/*
 * Returns whether the receiver has not been accepted, and has no number yet: the event names the
 * sender.
 */
static bool is_for_unaccepted(const struct thread *t, const struct mg_sock *s)
{
	return s->kind != MG_KIND_unix_dgram && t && t->in_call && !t->in_softirq &&
	       t->now.cookie == s->cookie && mg_syscall_direction(t->now.call) == MG_DIR_TX;
}

/* Queues a message before accept(). Without a length, its sender's call gives it at its end. */
static void queued_before_accept(struct thread *t, struct mg_sock *s, const struct mg_sock_ready *p,
	uint64_t now, struct annotation *a)
{
	struct piece *piece = p->buffer && p->len ? send(t, s, p->len, now) : NULL;

	a->rx = false;
	if (!piece)
		return;
	a->has_offset = true;
	a->offset = piece->off;
	a->length = p->len;
	piece->parcel->buffer = p->buffer;
	keep_early(s, piece->parcel);
}

/* Ends an older message in the same buffer: it has been read, or was mistaken for another. */
static void end_older(struct queues *q, uint32_t buffer)
{
	struct arrival *x = buffer ? arrival_newest(q, buffer) : NULL;

	if (x && x->taken)
		arrival_gone(q, x);
	else if (x)
		x->buffer = 0;
}

void unix_ready(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_event *e,
	struct annotation *a)
{
	const struct mg_sock_ready *p = &e->sock_ready;
	uint32_t len = p->buffer ? p->len : LEN_UNKNOWN;
	struct mg_sock *from = sender(c, t, s);
	struct queues *q = queues_of(s);
	struct piece *piece;
	struct arrival *x;

	if (is_for_unaccepted(t, s)) {
		queued_before_accept(t, s, p, e->cycles, a);
		return;
	}
	if (!from && s->kind != MG_KIND_unix_dgram && !p->len) { /* a connection */
		accepted(s);
		return;
	}
	if (!q)
		return;
	end_older(q, p->buffer);
	x = arrival_push(q, p->buffer, len);
	if (!x)
		return;
	x->ready = e->cycles;
	x->part.len = len;
	if (len != LEN_UNKNOWN)
		q->came += len;
	a->has_offset = len != LEN_UNKNOWN;
	a->offset = x->off;
	a->length = a->has_offset ? len : 0;
	piece = from ? send(t, from, len, e->cycles) : NULL;
	if (!piece)
		return;
	x->part.from = parcel_get(piece->parcel);
	piece->arrival = arrival_get(x); /* until its length is known */
}

/* Returns the only buffer of a message whose length was not seen; sums the others' lengths. */
static struct piece *not_known(struct kernel_call *k, uint64_t *known)
{
	struct piece *one = NULL;

	*known = 0;
	for (uint32_t i = k->message.piece; i < k->pieces; i++) {
		if (k->piece[i].len != LEN_UNKNOWN)
			*known += k->piece[i].len;
		else if (one)
			return NULL;
		else
			one = &k->piece[i];
	}
	return one;
}

static void learn_length(struct piece *p, struct queues *q, uint32_t len)
{
	p->len = len;
	p->parcel->len = len;
	p->parcel->sent = true;
	q->sent += len;
	if (p->arrival)
		arrival_set_length(p->arrival, len);
}

void unix_sent(struct thread *t, struct mg_sock *s, int64_t ret, uint64_t now)
{
	struct kernel_call *k = &t->now;
	struct queues *q = queues_of(s);
	struct piece *one;
	uint64_t known;

	if (!q)
		return;
	if (ret > 0 && k->pieces == k->message.piece) { /* its receiver is not followed */
		one = send(t, s, (uint32_t)ret, now);
		if (one)
			keep_early(s, one->parcel);
		return;
	}
	one = not_known(k, &known);
	if (one && ret >= 0 && (uint64_t)ret >= known)
		learn_length(one, q, (uint32_t)((uint64_t)ret - known));
	for (uint32_t i = k->message.piece; i < k->pieces; i++) {
		struct piece *p = &k->piece[i];

		if (p->arrival)
			arrival_put(p->arrival);
		p->arrival = NULL;
		if (p->len == LEN_UNKNOWN) /* more than one: they cannot be told apart */
			p->len = 0;
	}
}

/*
 * Returns the message it was copied from; if its buffer is not known, the first such. Messages
 * there at accept() are read first, whatever their buffers.
 */
static struct arrival *source(struct mg_sock *s, struct queues *q, uint32_t buffer)
{
	struct arrival *x = q->n ? arrival_at(q, 0) : NULL, *first;

	if (!x || !x->is_early)
		x = arrival_next(q, buffer);
	if (x)
		return x;
	accepted(s); /* it was sent just then */
	first = arrival_next(q, 0);
	if (first)
		first->buffer = buffer;
	return first;
}

/*
 * Removes messages passed over; two threads that send at once may be reported in the wrong order,
 * but not by much.
 */
static void drop_stale(const struct core *c, struct queues *q, const struct arrival *than)
{
	uint64_t patience = clockmap_span(&c->clock, GIVE_UP_NS);

	while (q->n && arrival_at(q, 0) != than && arrival_at(q, 0)->ready + patience < than->ready)
		arrival_gone(q, arrival_at(q, 0));
}

void unix_copy(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_event *e,
	struct annotation *a)
{
	struct queues *q = queues_of(s);
	struct arrival *x;

	if (s->kind != MG_KIND_unix_stream || !q)
		return;
	x = source(s, q, e->sock_copy.seq);
	if (!x || e->sock_copy.len > x->len - x->taken)
		return;
	drop_stale(c, q, x);
	arrival_get(x);
	datagram_take(t, s, x, e->sock_copy.len, e->cycles, a);
	if (x->taken == x->len)
		arrival_gone(q, x);
	arrival_put(x);
}

/* Takes messages in order, where no event reports the buffers (splice(), older kernels). */
static void take_in_order(struct thread *t, struct mg_sock *s, struct queues *q, uint64_t len,
	uint64_t now, struct annotation *a)
{
	while (len && q->n) {
		struct arrival *x = arrival_at(q, 0);
		uint32_t left = x->len - x->taken;

		if (x->len == LEN_UNKNOWN)
			return;
		if (left > len)
			left = (uint32_t)len;
		arrival_get(x);
		datagram_take(t, s, x, left, now, a);
		if (x->taken == x->len)
			arrival_gone(q, x);
		arrival_put(x);
		len -= left;
	}
}

/* Returns the bytes of the call's pieces, of which the last may have been copied in vain. */
static uint64_t copied(struct kernel_call *k, uint64_t ret)
{
	uint64_t sum = 0;

	for (uint32_t i = k->message.piece; i < k->pieces; i++) {
		struct piece *p = &k->piece[i];

		if (sum + p->len > ret)
			p->len = ret - sum;
		sum += p->len;
	}
	return sum;
}

void unix_received(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_event *e,
	const struct mg_sock_moved *p, struct annotation *a)
{
	struct kernel_call *k = &t->now;
	struct queues *q = queues_of(s);
	struct arrival *x;

	if (!q)
		return;
	if (s->kind == MG_KIND_unix_stream) {
		if (k->pieces == k->message.piece)
			take_in_order(t, s, q, (uint64_t)p->ret, e->cycles, a);
		if (copied(k, (uint64_t)p->ret) < (uint64_t)p->ret)
			s->rx.missing.messages++;
		if (k->pieces > k->message.piece) {
			a->has_offset = true;
			a->offset = k->piece[k->message.piece].off;
		}
		return;
	}
	x = k->message.buffer ? source(s, q, k->message.buffer) : NULL;
	if (!x || ((uint32_t)p->ret > x->len && x->len != LEN_UNKNOWN)) {
		s->rx.missing.messages += p->ret > 0;
		return;
	}
	drop_stale(c, q, x);
	arrival_get(x);
	datagram_take(t, s, x, (uint32_t)p->ret, e->cycles, a);
	arrival_gone(q, x);
	arrival_put(x);
}
