/* SPDX-License-Identifier: MIT */
#include "stream/buffer.h"

#include "bytes/why_state.h"
#include "socket/anchor.h"

/* Sequence numbers further apart than any buffer is large are not those of one time. */
#define LARGEST_BUFFER 0x40000000u

/* Returns the bytes between two sequence numbers; FACT_NONE if the first is behind the second. */
static uint64_t between(uint32_t from, uint32_t to)
{
	return to - from < LARGEST_BUFFER ? to - from : FACT_NONE;
}

static void emit(struct core *c, const struct flow *f, uint64_t now, uint64_t held, uint64_t unsent)
{
	struct fact_buffer b = {.time = now, .flow = flow_fact(f), .bytes = held, .unsent = unsent};

	if (held != FACT_NONE || unsent != FACT_NONE)
		emit_buffer(&c->facts, &b);
}

void buffer_on_write(struct core *c, struct mg_sock *s, const struct mg_event *e)
{
	const struct mg_tcp_send *p = &e->tcp_send;

	if (facts_wanted(&c->facts, FACT_buffer))
		emit(c, &s->tx, e->cycles, between(p->snd_una, p->seq),
			between(p->snd_nxt, p->seq));
}

void buffer_on_segment(struct core *c, struct mg_sock *s, uint64_t now)
{
	const struct flow *f = &s->tx;
	const struct split *p = f->why ? &f->why->split : NULL;

	/* while a call writes, it is not known how far it is */
	if (!p || p->writing || !f->ack.to || p->written < f->ack.to ||
		!facts_wanted(&c->facts, FACT_buffer))
		return;
	emit(c, f, now, p->written - f->ack.to,
		p->unsent <= p->written ? p->written - p->unsent : FACT_NONE);
}

void buffer_on_state(struct core *c, struct mg_sock *s, const struct mg_event *e)
{
	const struct mg_tcp_more *p = &e->tcp_more;
	uint64_t written, held = FACT_NONE;

	if (!facts_wanted(&c->facts, FACT_buffer))
		return;
	/* a FIN has a number, too, and is acknowledged like a byte */
	if (s->tx.ack.to && flow_offset(&s->tx, before_fin(&s->tx, p->write_seq), &written) &&
		written >= s->tx.ack.to)
		held = written - s->tx.ack.to;
	emit(c, &s->tx, e->cycles, held, p->notsent);
}

void buffer_on_ready(struct core *c, struct mg_sock *s, const struct mg_event *e)
{
	const struct mg_tcp_ready *p = &e->tcp_ready;

	if (facts_wanted(&c->facts, FACT_buffer))
		emit(c, &s->rx, e->cycles, between(p->copied_seq, before_fin(&s->rx, p->rcv_nxt)),
			FACT_NONE);
}

void buffer_on_copy(struct core *c, struct mg_sock *s, const struct mg_event *e)
{
	const struct mg_sock_copy *p = &e->sock_copy;

	if (facts_wanted(&c->facts, FACT_buffer))
		emit(c, &s->rx, e->cycles, between(p->seq + p->len, before_fin(&s->rx, p->rcv_nxt)),
			FACT_NONE);
}
