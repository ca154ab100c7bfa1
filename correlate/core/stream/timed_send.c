/* SPDX-License-Identifier: MIT */
#include "stream/timed_send.h"

#include <stdlib.h>

#include "alloc.h"
#include "event_table.h"
#include "bytes/timed_sends.h"
#include "socket/anchor.h"
#include "socket/socket.h"

#define ON_WAY_MAX 65536 /* of a send before so many later ones something is missing */

static uint64_t between(uint64_t from, uint64_t to)
{
	if (!from || !to)
		return FACT_NONE;
	return to > from ? to - from : 0;
}

/* Returns what became of the oldest send. `acked` is when it was acknowledged, 0: not seen. */
static enum fact_timed outcome_of(
	const struct mg_sock *s, const struct timed_send *one, uint64_t acked, bool ended)
{
	if (acked)
		return TIMED_ACKNOWLEDGED;
	if (one->gaps != s->tx.missing.gaps)
		return TIMED_LOST;
	return ended || one->queue ? TIMED_UNFINISHED : TIMED_MERGED;
}

/* Emits the oldest send, and forgets it. */
static void settle_first(struct core *c, struct mg_sock *s, uint64_t acked, bool ended)
{
	const struct timed_send *one = timed_sends_first(s->tx.ack.timed);
	struct fact_timed_send f = {.flow = flow_fact(&s->tx), .begin = one->sent};

	f.outcome = (uint8_t)outcome_of(s, one, acked, ended);
	if (!flow_place(&s->tx, one->end, &f.end))
		f.end = FACT_NONE;
	f.stage[TIMED_SEND_BUFFER] = between(one->sent, one->queue);
	f.stage[TIMED_QUEUE] = between(one->queue, one->driver);
	f.stage[TIMED_NETWORK] = between(one->driver, acked);
	f.total = between(one->sent, acked);
	f.queued = one->queued;
	emit_timed_send(&c->facts, &f);
	timed_sends_remove_first(s->tx.ack.timed);
}

/*
 * Settles sends that end before this sequence number, if they have no timestamp that a later one
 * has: it was in the same segment, or its event is missing.
 */
static void settle_before(struct core *c, struct mg_sock *s, uint32_t end)
{
	const struct timed_send *one;

	while ((one = timed_sends_first(s->tx.ack.timed)) && timed_before(one->end, end) &&
		!one->queue)
		settle_first(c, s, 0, false);
}

/* Counts the bytes of a send, where no system call is recorded. */
static void count_bytes(struct flow *f, uint32_t end)
{
	uint64_t off;

	if (flow_offset(f, end, &off) && off > f->total)
		f->total = off;
}

/* Shows the last byte of a send beside its event. */
static void annotate(struct mg_sock *s, uint32_t end, struct annotation *a)
{
	uint64_t last;

	a->sock = s;
	a->has_offset = flow_place(&s->tx, end - 1, &last);
	if (!a->has_offset)
		return;
	a->offset = last;
	a->length = 1;
}

void timed_send_on_send(
	struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a)
{
	struct mg_sock *s = sock_get(c, e->stamp_send.sock);
	struct timed_send *one;

	if (!s)
		return;
	count_bytes(&s->tx, e->stamp_send.end);
	annotate(s, e->stamp_send.end, a);
	if (t)
		sock_used_by(c, s, t);
	if (!s->tx.ack.timed)
		s->tx.ack.timed = mg_calloc(1, sizeof(*s->tx.ack.timed));
	if (!s->tx.ack.timed)
		return;
	if (s->tx.ack.timed->len == ON_WAY_MAX)
		settle_first(c, s, 0, true);
	one = timed_sends_add(s->tx.ack.timed);
	if (one)
		*one = (struct timed_send){
			.end = e->stamp_send.end, .sent = e->cycles, .gaps = s->tx.missing.gaps};
}

/* Settles all sends up to one that is acknowledged: those before it are, too. */
static void on_ack(struct core *c, struct mg_sock *s, const struct timed_send *last, uint64_t now)
{
	uint32_t end = last->end;
	const struct timed_send *one;

	while ((one = timed_sends_first(s->tx.ack.timed)) && !timed_before(end, one->end))
		settle_first(c, s, one->end == end ? now : 0, false);
}

void timed_send_on_stamp(struct core *c, const struct mg_event *e, struct annotation *a)
{
	struct mg_sock *s = sock_find(c, e->stamp.sock);
	struct timed_send *one = NULL;

	if (s)
		annotate(s, e->stamp.end, a);
	if (s && s->tx.ack.timed)
		one = timed_sends_at(s->tx.ack.timed, e->stamp.end);
	if (!one)
		return; /* that it was sent is not recorded */
	switch (e->id) {
	case MG_EVENT_stamp_queue:
		if (!one->queued++)
			one->queue = e->cycles;
		settle_before(c, s, e->stamp.end);
		break;
	case MG_EVENT_stamp_driver:
		if (!one->driver)
			one->driver = e->cycles;
		break;
	default:
		on_ack(c, s, one, e->cycles);
	}
}

void timed_send_end(struct core *c, struct mg_sock *s)
{
	while (s->tx.ack.timed && timed_sends_first(s->tx.ack.timed))
		settle_first(c, s, 0, true);
	timed_sends_free(s->tx.ack.timed);
	s->tx.ack.timed = NULL;
}
