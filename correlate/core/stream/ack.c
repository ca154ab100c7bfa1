/* SPDX-License-Identifier: MIT */
#include "stream/ack.h"

#include <stdlib.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "bytes/acks.h"
#include "coverage/gap.h"
#include "socket/anchor.h"
#include "stream/tx.h"

#define TCP_SYN 2
#define TCP_RST 4
#define TCP_ACK 16

/* Returns whether a sequence number comes after another one. */
static bool is_after(uint32_t seq, uint32_t other)
{
	return (int32_t)(seq - other) > 0;
}

/* Returns the flow's state; NULL without memory, or where its numbers are not known. */
static struct acks *acks_of(struct flow *f)
{
	uint64_t acked = f->rx || f->ack.to < f->start ? f->start : f->ack.to;

	if (f->ack.on_way || !f->anchor.set || f->sock->state == MG_TCP_CLOSE)
		return f->ack.on_way;
	f->ack.on_way = mg_calloc(1, sizeof(*f->ack.on_way));
	if (f->ack.on_way)
		f->ack.on_way->to = f->anchor.seq - (uint32_t)(f->anchor.off - acked);
	return f->ack.on_way;
}

static void drop(struct flow *f)
{
	free(f->ack.on_way);
	f->ack.on_way = NULL;
}

/* Returns the number up to which bytes are acknowledged: a FIN has a number, too. */
static uint32_t without_fin(const struct flow *f, uint32_t ack)
{
	uint64_t off;

	if (f->rx)
		return before_fin(f, ack);
	/* when the connection closes, all bytes have been written */
	if (f->sock->state > MG_TCP_SYN_RECV && flow_place(f, ack, &off) && off == f->total + 1)
		return ack - 1;
	return ack;
}

/* Emits an acknowledgement, unless another one came before that acknowledges as much. */
static void tell(const struct core *c, struct flow *f, const struct acking *a, uint64_t tcp)
{
	uint32_t ack = without_fin(f, a->ack);
	uint64_t off;

	if (!is_after(ack, f->ack.on_way->to) || !flow_place(f, ack, &off))
		return;
	if (!f->rx && !tx_may_be_acked(c, f, ack)) /* a damaged header */
		return;
	emit_ack(&c->facts, &(struct fact_ack){.flow = flow_fact(f),
				    .offset = off,
				    .length = ack - f->ack.on_way->to,
				    .device = a->device,
				    .ip = a->ip,
				    .tcp = tcp});
	f->ack.on_way->to = ack;
}

static bool carries_one(const struct mg_packet *p)
{
	return (p->tcp_flags & (TCP_ACK | TCP_SYN | TCP_RST)) == TCP_ACK;
}

static struct acking segment(const struct mg_packet *p)
{
	return (struct acking){.seq = p->seq, .len = p->len, .ack = p->ack};
}

/* ---- at the sender ---- */

/* Returns when the device delivered a segment, and forgets it there; 0 if that was not seen. */
static uint64_t delivered(struct acking_queue *q, const struct acking *a)
{
	for (uint32_t i = 0; i < q->n; i++) {
		const struct acking *d = acking_at(q, i);
		uint64_t t = d->device;

		if (d->seq != a->seq || d->len != a->len || d->ack != a->ack)
			continue;
		acking_drop(q, i + 1);
		return t;
	}
	return 0;
}

/* Emits the first n segments, which TCP processed no later than at `tcp`; 0: that is not known. */
static void tell_first(const struct core *c, struct flow *f, uint32_t n, uint64_t tcp)
{
	struct acking_queue *q = &f->ack.on_way->at_ip;

	for (uint32_t i = 0; i < n; i++) {
		const struct acking *a = acking_at(q, i);
		bool lost = tcp && gap_within(c, MG_LAYER_TCP, a->ip, tcp + 1, -1, -1);

		tell(c, f, a, lost || tcp < a->ip ? 0 : tcp);
	}
	acking_drop(q, n);
}

void ack_on_arrival(struct core *c, struct mg_sock *s, const struct mg_event *e)
{
	struct acks *x = carries_one(&e->packet) ? acks_of(&s->tx) : NULL;
	bool passes_ip = mg_events_have(core_hooked(c, s->netns), MG_EVENT_ip_in);
	struct acking a = segment(&e->packet);

	if (!x)
		return;
	if (e->id == MG_EVENT_dev_recv) {
		a.device = e->cycles;
		if (passes_ip)
			acking_add(&x->at_device, &a);
		else
			tell(c, &s->tx, &a, 0);
		return;
	}
	a.device = delivered(&x->at_device, &a);
	a.ip = e->cycles;
	if (s->state != MG_TCP_ESTABLISHED || !core_observes(c, MG_EVENT_tcp_recv)) {
		tell_first(c, &s->tx, x->at_ip.n, 0);
		tell(c, &s->tx, &a, 0);
		return;
	}
	if (x->at_ip.n == ACKING_MAX)
		tell_first(c, &s->tx, 1, 0);
	acking_add(&x->at_ip, &a);
}

/*
 * Emits those that TCP has acknowledged by now. It processes segments in order, so the last of
 * them, and all before, were processed with the segment before this event: several that waited for
 * the socket may be merged into one.
 */
static void tell_acknowledged(const struct core *c, struct flow *f, uint32_t snd_una)
{
	struct acks *x = f->ack.on_way;
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->at_ip.n; i++) {
		uint32_t ack = acking_at(&x->at_ip, i)->ack;

		if (is_after(ack, x->to) && !is_after(ack, snd_una))
			n = i + 1;
	}
	tell_first(c, f, n, x->processed);
}

void ack_on_processed(struct core *c, struct mg_sock *s, const struct mg_event *e)
{
	const struct mg_tcp_recv *p = &e->tcp_recv;
	struct acks *x = s->tx.ack.on_way;

	if (!x)
		return;
	tell_acknowledged(c, &s->tx, p->snd_una);
	for (uint32_t i = 0; i < x->at_ip.n; i++) {
		const struct acking *a = acking_at(&x->at_ip, i);

		if (a->seq != p->seq || a->len > p->len)
			continue;
		acking_drop(&x->at_ip, i); /* those before it have not reached TCP */
		tell_first(c, &s->tx, 1, e->cycles);
		break;
	}
	x->processed = e->cycles;
}

/* ---- at the receiver ---- */

void ack_on_departure(struct core *c, struct mg_sock *s, const struct mg_event *e)
{
	const struct mg_packet *p = &e->packet;
	struct acks *x = carries_one(p) ? acks_of(&s->rx) : NULL;
	struct acking a = segment(p);

	if (!x || !is_after(p->ack, x->to))
		return;
	if (e->id == MG_EVENT_ip_out) {
		a.ip = e->cycles;
		if (mg_events_have(core_hooked(c, s->netns), MG_EVENT_dev_xmit))
			acking_add(&x->at_ip, &a);
		else
			tell(c, &s->rx, &a, 0);
		return;
	}
	a.device = e->cycles;
	for (uint32_t i = 0; i < x->at_ip.n; i++) {
		const struct acking *out = acking_at(&x->at_ip, i);

		/* a larger segment may have been cut since */
		if (out->ack != a.ack || a.seq - out->seq > out->len)
			continue;
		a.ip = out->ip;
		acking_drop(&x->at_ip, i + 1);
		break;
	}
	tell(c, &s->rx, &a, 0);
}

/* ---- ends ---- */

static void tell_rest(const struct core *c, struct flow *f)
{
	if (f->ack.on_way)
		tell_first(c, f, f->ack.on_way->at_ip.n, 0);
}

void ack_on_state(struct core *c, struct mg_sock *s, const struct mg_event *e)
{
	const struct mg_sock_state *p = &e->sock_state;

	if (s->tx.ack.on_way && p->old == MG_TCP_ESTABLISHED) {
		tell_acknowledged(c, &s->tx, p->snd_una);
		tell_rest(c, &s->tx);
	}
	if (p->now != MG_TCP_CLOSE)
		return;
	drop(&s->tx);
	drop(&s->rx);
}

void acks_finish(struct core *c, struct mg_sock *s)
{
	tell_rest(c, &s->tx);
	tell_rest(c, &s->rx);
	drop(&s->tx);
	drop(&s->rx);
}
