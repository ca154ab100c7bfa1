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

/* How it is known that a send is at its end. */
enum ending {
	ENDS_BY_ACK,   /* by its own acknowledgement */
	ENDS_BY_LATER, /* by that of a later send, or of more bytes */
	ENDS_UNSEEN,   /* no event of the connection will come */
	ENDS_LOST,     /* events of it may be missing */
};

static enum fact_timed outcome_of(
	const struct mg_sock *s, const struct timed_send *one, enum ending how)
{
	bool misses = how == ENDS_LOST || one->gaps != s->tx.missing.gaps;

	if (how == ENDS_BY_ACK)
		return one->left ? TIMED_LEFT : TIMED_ACKNOWLEDGED;
	if (misses)
		return TIMED_LOST;
	if (how == ENDS_UNSEEN)
		return TIMED_UNFINISHED;
	return one->left ? TIMED_LEFT : one->queue ? TIMED_ACKNOWLEDGED_LATER : TIMED_MERGED;
}

/* Emits the oldest send, and forgets it. Where it was acknowledged that was until `now`. */
static void settle_first(struct core *c, struct mg_sock *s, enum ending how, uint64_t now)
{
	const struct timed_send *one = timed_sends_first(s->tx.ack.timed);
	struct fact_timed_send f = {.flow = flow_fact(&s->tx), .begin = one->sent};
	bool own;

	f.outcome = (uint8_t)outcome_of(s, one, how);
	own = f.outcome == TIMED_ACKNOWLEDGED;
	if (!flow_place(&s->tx, one->end, &f.end))
		f.end = FACT_NONE;
	f.stage[TIMED_SEND_BUFFER] = between(one->sent, one->queue);
	f.stage[TIMED_QUEUE] = between(one->queue, one->driver);
	f.stage[TIMED_NETWORK] = between(one->driver, own ? now : 0);
	f.total = between(one->sent, own ? now : 0);
	f.at_most = own || f.outcome == TIMED_ACKNOWLEDGED_LATER || f.outcome == TIMED_MERGED
			    ? between(one->sent, now)
			    : FACT_NONE;
	f.bytes = one->bytes;
	f.queued = one->queued;
	emit_timed_send(&c->facts, &f);
	timed_sends_remove_first(s->tx.ack.timed);
}

static void settle_all(struct core *c, struct mg_sock *s, enum ending how)
{
	while (s->tx.ack.timed && timed_sends_first(s->tx.ack.timed))
		settle_first(c, s, how, 0);
}

/* Settles all sends up to one whose acknowledgement has come. */
static void settle_by_ack(struct core *c, struct mg_sock *s, uint32_t to, uint64_t now)
{
	const struct timed_send *one;

	while ((one = timed_sends_first(s->tx.ack.timed)) && !timed_before(to, one->end))
		settle_first(c, s, one->end == to ? ENDS_BY_ACK : ENDS_BY_LATER, now);
}

/* Settles all sends that are acknowledged: those that do not end among the bytes of `p` that are
 * not. */
static void settle_acknowledged(
	struct core *c, struct mg_sock *s, const struct mg_stamp_send *p, uint64_t now)
{
	const struct timed_send *one;

	while ((one = timed_sends_first(s->tx.ack.timed)) &&
		one->end - p->snd_una - 1 >= p->end - p->snd_una)
		settle_first(c, s, ENDS_BY_LATER, now);
}

/* Counts the bytes of a send, where no system call is recorded. Returns how many are new. */
static uint64_t count_bytes(struct flow *f, uint32_t end)
{
	uint64_t off, before = f->total;

	if (flow_offset(f, end, &off) && off > f->total)
		f->total = off;
	return f->total - before;
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

/*
 * Begins a send. What is acknowledged by then, or lacks events since, is settled first: so the list
 * stays in the order of sequence numbers, which wrap.
 */
static void begin_send(struct core *c, struct mg_sock *s, const struct mg_stamp_send *p,
	uint64_t bytes, uint64_t now)
{
	struct timed_sends *all = s->tx.ack.timed;
	struct timed_send *one = timed_sends_last(all);

	if (one && one->gaps != s->tx.missing.gaps)
		settle_all(c, s, ENDS_LOST);
	settle_acknowledged(c, s, p, now);
	if (all->len == ON_WAY_MAX)
		settle_first(c, s, ENDS_UNSEEN, 0);
	if (all->was_off || core_observes(c, MG_EVENT_sys_enter))
		bytes = 0;
	all->was_off = false;
	one = timed_sends_add(all);
	if (one)
		*one = (struct timed_send){.end = p->end,
			.bytes = bytes,
			.sent = now,
			.gaps = s->tx.missing.gaps,
			.left = p->snd_nxt == p->end};
}

void timed_send_on_send(
	struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a)
{
	struct mg_sock *s = sock_get(c, e->stamp_send.sock);
	uint64_t bytes;

	if (!s)
		return;
	flow_touch(&s->tx, e->cycles);
	bytes = count_bytes(&s->tx, e->stamp_send.end);
	annotate(s, e->stamp_send.end, a);
	if (t)
		sock_used_by(c, s, t);
	if (!s->tx.ack.timed)
		s->tx.ack.timed = mg_calloc(1, sizeof(*s->tx.ack.timed));
	if (!s->tx.ack.timed)
		return;
	begin_send(c, s, &e->stamp_send, bytes, e->cycles);
}

/* Notes a timestamp, unless one before it may be missing: then it may be that of a later copy. */
static void note(const struct mg_sock *s, struct timed_send *one, uint64_t *at, uint64_t now)
{
	if (one->gaps == s->tx.missing.gaps && !one->left && one->queued == 1)
		*at = now;
}

void timed_send_on_stamp(struct core *c, const struct mg_event *e, struct annotation *a)
{
	struct mg_sock *s = sock_find(c, e->stamp.sock);
	struct timed_send *one = NULL;

	if (s) {
		flow_touch(&s->tx, e->cycles);
		annotate(s, e->stamp.end, a);
	}
	if (s && s->tx.ack.timed)
		one = timed_sends_at(s->tx.ack.timed, e->stamp.end);
	if (!one)
		return; /* that it was sent is not recorded */
	switch (e->id) {
	case MG_EVENT_stamp_queue:
		if (one->queued && e->stamp.ifindex != one->ifindex)
			break; /* a device below the first one */
		one->ifindex = e->stamp.ifindex;
		one->queued++;
		note(s, one, &one->queue, e->cycles);
		break;
	case MG_EVENT_stamp_driver:
		if (!one->driver)
			note(s, one, &one->driver, e->cycles);
		break;
	default:
		settle_by_ack(c, s, e->stamp.end, e->cycles);
	}
}

void timed_send_off(struct core *c)
{
	for (struct mg_sock *s = c->sockets.live; s; s = s->listed.next) {
		settle_all(c, s, ENDS_LOST);
		if (s->tx.ack.timed)
			s->tx.ack.timed->was_off = true;
	}
}

void timed_send_end(struct core *c, struct mg_sock *s)
{
	settle_all(c, s, ENDS_UNSEEN);
	timed_sends_free(s->tx.ack.timed);
	s->tx.ack.timed = NULL;
}
