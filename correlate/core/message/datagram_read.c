/* SPDX-License-Identifier: MIT */
/*
 * Finds the datagram that a call received. A receive queue is read in the order in which it is
 * filled; each receive reports the next buffer, so that an unseen drop is not mistaken for the
 * datagram read. Where it is not certain, nothing is paired.
 */
#include "message/datagram_read.h"

#include "core.h"
#include "stage.h"
#include "event_table.h"
#include "message/arrival.h"
#include "message/parcel.h"
#include "message/unix.h"
#include "stream/rx_range.h"
#include "task/piece.h"
#include "task/threads.h"

/* Bounds the cost of an endless queue. */
#define LOOK_LONG 4096

/*
 * Returns whether it is in the queue, as far as known: without that event, when IP or the device
 * had it.
 */
static bool is_there(const struct arrival *x)
{
	return !x->is_gone && arrival_ready(x);
}

/*
 * Returns the first message in the queue. A reader on another CPU may be faster than the queue's
 * event: then the newest. Where no event ever reports the queue, the first.
 */
static struct arrival *first_there(const struct queues *q)
{
	struct arrival *any = NULL;

	for (uint32_t i = 0; i < q->n && i < LOOK_LONG; i++) {
		struct arrival *x = arrival_at(q, i);

		if (is_there(x))
			return x;
		if (!x->is_gone && (!any || q->reported))
			any = x;
	}
	return any;
}

/* Returns the last one before `i` of which nothing more is to be read. */
static struct arrival *last_there(const struct queues *q, uint32_t i)
{
	uint32_t until = i > LOOK_LONG ? i - LOOK_LONG : 0;
	struct arrival *any = NULL;

	while (i-- > until) {
		struct arrival *x = arrival_at(q, i);

		if (is_there(x))
			return x;
		if (!any && !x->is_gone)
			any = x;
	}
	return any;
}

/*
 * Returns the index of the buffer; a raw socket's filter may have rejected an older message in the
 * same one.
 */
static uint32_t place_of(const struct queues *q, uint32_t buffer, uint32_t from)
{
	uint32_t any = q->n;

	for (uint32_t i = from; i < q->n && i < LOOK_LONG; i++) {
		const struct arrival *x = arrival_at(q, i);

		if (x->buffer != buffer || x->is_gone)
			continue;
		if (is_there(x))
			return i;
		if (any == q->n)
			any = i;
	}
	return any;
}

/*
 * Returns the index of the next message to be read: both copies of a duplicate may lie in one
 * buffer.
 */
static uint32_t next_place(const struct queues *q, uint32_t buffer)
{
	uint32_t i = place_of(q, buffer, 0), again;

	if (i == q->n || arrival_at(q, i) != first_there(q))
		return i;
	again = place_of(q, buffer, i + 1);
	return again < q->n && is_there(arrival_at(q, again)) ? again : i;
}

/* Returns the message if only one waits: with several readers it is uncertain which got which. */
static struct arrival *of_several(struct queues *q)
{
	uint32_t there = 0;

	for (uint32_t i = 0; i < q->n && there < 2; i++)
		there += is_there(arrival_at(q, i));
	if (there > 1)
		q->unsure = q->pushed;
	return first_there(q);
}

static struct arrival *which(const struct mg_sock *s, struct queues *q, const struct kernel_call *k,
	const struct mg_sock_moved *p)
{
	uint32_t i = k->message.buffer ? place_of(q, k->message.buffer, 0) : q->n;

	if (i < q->n)
		return arrival_at(q, i);
	if (s->rx.use.in_kernel > 1)
		return of_several(q);
	if (p->next == MG_NOT_KNOWN)
		return last_there(q, q->n);
	i = p->next ? next_place(q, p->next) : q->n;
	return i < q->n ? last_there(q, i) : first_there(q);
}

/* Sets the sender; the fragments must be of one datagram, otherwise it is not certain. */
static void name_sender(struct annotation *a, const struct arrival *x)
{
	const struct part *one = &x->part;

	for (const struct part *p = one; p; p = p->next)
		if (p->from != one->from || p->from_off - p->off != one->from_off - one->off)
			return;
	if (!one->from)
		return;
	a->from = one->from->flow;
	a->from_offset = one->from->off + one->from_off - one->off + x->taken;
}

void datagram_take(struct thread *t, struct mg_sock *s, struct arrival *x, uint32_t len,
	uint64_t now, struct annotation *a)
{
	struct piece *piece = call_add_piece(&t->now, &s->rx, x->off + x->taken, len, now);

	arrival_annotate(a, x, x->taken, len);
	name_sender(a, x);
	x->taken += len;
	if (!piece)
		return;
	piece->arrival = arrival_get(x);
	if (t->wake.sock == s->cookie) {
		piece->waking = t->wake.at;
		piece->switch_in = t->wake.ran;
	}
}

void datagram_received(struct core *c, struct thread *t, struct mg_sock *s,
	const struct mg_event *e, const struct mg_sock_moved *p, struct annotation *a)
{
	struct queues *q = queues_of(s);
	struct arrival *x = q ? which(s, q, &t->now, p) : NULL;
	uint32_t len = (uint32_t)p->ret;

	if (!x) {
		s->rx.missing.messages++;
		return;
	}
	arrival_drop_older(c, q, x, e->cycles);
	if (s->kind != MG_KIND_udp && len > x->len && !x->is_fragmented) /* headers, too */
		x->len = x->part.len = len;
	if (x->nth < q->unsure || len > x->len) {
		s->rx.missing.messages++;
		if (len <= x->len)
			arrival_gone(q, x);
		return;
	}
	arrival_get(x);
	datagram_take(t, s, x, len, e->cycles, a);
	if (x->segs > 1 && len <= x->gso_size && x->taken < x->len)
		x->taken = x->taken - len + x->gso_size; /* one of several */
	else
		x->taken = x->len;
	if (x->taken >= x->len)
		arrival_gone(q, x);
	arrival_put(x);
}

static uint32_t times_of(
	const struct arrival *x, const struct part *part, uint64_t t[RX_LAYERS], uint32_t layers)
{
	uint32_t present = 0;

	t[RX_DEV] = part->dev;
	t[RX_IP] = part->ip;
	t[RX_TCP] = 0;
	t[RX_READY] = arrival_ready(x);
	if (!(layers & 1u << RX_READY)) /* older kernels have no such event */
		t[RX_READY] = part->ip ? part->ip : part->dev;
	for (int i = RX_DEV; i <= RX_READY; i++)
		if (t[i])
			present |= 1u << i;
	return present;
}

static uint32_t required(const struct core *c, const struct mg_sock *s)
{
	uint32_t bits = rx_stages(core_hooked(c, s->netns));

	return bits & (is_unix(s) ? 1u << RX_READY : 1u << RX_READY | 1u << RX_DEV | 1u << RX_IP);
}

/* Settles the bytes [a, b) of the arrival that a call received of a part. */
static void settle_part(struct core *c, const struct kernel_call *k, const struct piece *p,
	const struct part *part, uint32_t a, uint32_t b, uint64_t user)
{
	const struct arrival *x = p->arrival;
	struct flow *f = p->flow;
	uint32_t layers = required(c, f->sock);
	uint64_t t[RX_LAYERS];
	uint32_t present = times_of(x, part, t, layers);
	struct reading r = {.rx = f,
		.off = part->from_off + a - part->off,
		.len = b - a,
		.user = user,
		.exit = k->exit};

	if (!rx_settle_range(
		    c, p, k, user, layers | 1u << RX_READY, x->off + a, x->off + b, t, present) ||
		!part->from)
		return;
	parcel_read(c, part->from, &r);
	if (part->xmit && part->dev)
		emit_crossing(&c->facts, &(struct fact_crossing){.flow = flow_fact(f),
						 .sender = flow_fact(part->from->flow),
						 .kind = f->sock->kind,
						 .offset = x->off + a,
						 .length = b - a,
						 .transmitted = part->xmit,
						 .arrived = part->dev,
						 .end = user});
}

void datagram_settle_rx(struct core *c, const struct kernel_call *k, uint64_t user)
{
	for (uint32_t i = 0; i < k->pieces; i++) {
		const struct piece *p = &k->piece[i];
		const struct arrival *x = p->arrival;
		uint32_t off, end;

		if (!x)
			continue;
		off = (uint32_t)(p->off - x->off);
		end = off + (uint32_t)p->len;
		for (const struct part *part = &x->part; part; part = part->next) {
			uint32_t a = part->off > off ? part->off : off;
			uint32_t b = part->len < end - part->off ? part->off + part->len : end;

			if (a < b)
				settle_part(c, k, p, part, a, b, user);
		}
	}
}
