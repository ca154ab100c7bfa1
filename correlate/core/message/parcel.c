/* SPDX-License-Identifier: MIT */
/*
 * Messages as calls handed them to a socket without sequence numbers: which call brought which
 * bytes, when they left, and when a receiver in this recording had them.
 */
#include "message/parcel.h"

#include <stdlib.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "bytes/call_ends.h"
#include "exchange/exchange.h"
#include "message/arrival.h"
#include "message/datagram.h"
#include "message/frames.h"
#include "stream/tx_range.h"

struct queues *queues_of(struct mg_sock *s)
{
	if (!s->queues)
		s->queues = mg_calloc(1, sizeof(*s->queues));
	return s->queues;
}

void queues_count(struct flow *f, int layer, uint64_t bytes)
{
	struct queues *q = queues_of(f->sock);

	if (!q)
		return;
	q->passed[f->rx][layer].n++;
	q->passed[f->rx][layer].bytes += bytes;
}

void queues_empty(struct queues *q)
{
	if (!q)
		return;
	for (uint32_t i = 0; i < q->n; i++)
		arrival_put(arrival_at(q, i));
	q->head = q->n = 0;
	if (q->corked)
		parcel_put(q->corked);
	q->corked = NULL;
	while (q->early) {
		struct parcel *p = q->early;

		q->early = p->later;
		parcel_put(p);
	}
	q->earlies = 0;
}

void queues_free(struct queues *q)
{
	queues_empty(q);
	if (q)
		free(q->ring);
	free(q);
}

struct parcel *parcel_new(struct flow *f, uint64_t off, uint32_t len)
{
	struct parcel *p = mg_calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->refs = 1;
	p->flow = f;
	f->sock->kept.by++;
	p->off = off;
	p->len = len;
	return p;
}

struct parcel *parcel_get(struct parcel *p)
{
	p->refs++;
	return p;
}

static void free_reading(struct reading *r)
{
	r->rx->sock->kept.by--;
	free(r);
}

void parcel_put(struct parcel *p)
{
	struct slice *s, *snext;
	struct frame *f, *fnext;
	struct reading *r, *rnext;

	if (--p->refs)
		return;
	for (s = p->slices; s; s = snext) {
		snext = s->next;
		if (s != &p->first)
			free(s);
	}
	for (f = p->passed; f; f = fnext) {
		fnext = f->next_passed;
		free(f);
	}
	for (r = p->reading; r; r = rnext) {
		rnext = r->next;
		free_reading(r);
	}
	p->flow->sock->kept.by--;
	free(p);
}

static bool overlaps(const struct slice *s, uint32_t off, uint32_t len, uint32_t *a, uint32_t *b)
{
	*a = s->off > off ? s->off : off;
	*b = s->off + s->len < off + len ? s->off + s->len : off + len;
	return *a < *b;
}

/* Settles [a, b) of a slice; the end of a call's bytes is reported with it. */
static void make_atom(struct core *c, const struct parcel *p, const struct slice *s, uint32_t a,
	uint32_t b, uint32_t layers, const uint64_t t[], uint32_t present)
{
	if (s->ends_call && b == s->off + s->len)
		call_ends_add(&p->flow->call_ends, p->off + b);
	tx_settle_range(c, p->flow, layers, p->off + a, p->off + b, t, present);
}

/* Settles what a frame carries, one byte range per call that brought it. */
static void make_atoms(struct core *c, const struct parcel *p, const struct frame *f)
{
	uint64_t t[TX_LAYERS];
	uint32_t a, b, required = datagram_required(c, p->flow);
	/* a program that makes the header itself has sent more than the payload */
	uint32_t len = f->is_piece ? f->len : p->len;

	for (const struct slice *s = p->slices; s; s = s->next) {
		if (!overlaps(s, f->off, len, &a, &b))
			continue;
		for (int i = TX_IP_OUT; i < TX_LAYERS; i++)
			t[i] = f->t[i];
		t[TX_CALL] = s->call;
		t[TX_COPY] = s->copy;
		make_atom(c, p, s, a, b, required, t, f->present | 1u << TX_CALL | 1u << TX_COPY);
	}
}

/* UNIX: settles from the call to the peer's queue. */
static void make_handed_atoms(struct core *c, const struct parcel *p)
{
	uint32_t handed = 1u << TX_CALL | 1u << TX_COPY | 1u << TX_IP_OUT;

	for (const struct slice *s = p->slices; s; s = s->next) {
		uint64_t t[TX_LAYERS] = {0};

		t[TX_CALL] = s->call;
		t[TX_COPY] = s->copy;
		t[TX_IP_OUT] = p->handed;
		make_atom(c, p, s, s->off, s->off + s->len, handed, t, handed);
	}
}

static bool is_settled(const struct parcel *p)
{
	return p->sent && p->settled >= p->len;
}

/* Emits the times at both ends that are the calls'. */
static void pair(const struct core *c, const struct parcel *p, const struct reading *r)
{
	uint32_t a, b;

	for (const struct slice *s = p->slices; s; s = s->next) {
		if (!overlaps(s, r->off, r->len, &a, &b))
			continue;
		exchange_on_message(&(struct exchange_message){.from = p->flow->sock,
			.to = r->rx->sock,
			.sent_exit = s->exit,
			.begin = s->call,
			.received_exit = r->exit,
			.end = r->user});
		emit_crossing(&c->facts, &(struct fact_crossing){.flow = flow_fact(r->rx),
						 .sender = flow_fact(p->flow),
						 .kind = r->rx->sock->kind,
						 .offset = FACT_NONE,
						 .length = b - a,
						 .begin = s->call,
						 .end = r->user});
	}
}

static void note_partner(struct flow *f, struct flow *other)
{
	if (!f->paired.partner && !f->paired.several)
		f->paired.partner = other;
	else if (f->paired.partner != other)
		f->paired.several = true;
}

void parcel_read(const struct core *c, struct parcel *p, const struct reading *r)
{
	struct reading *later;

	note_partner(p->flow, r->rx);
	note_partner(r->rx, p->flow);
	if (is_settled(p)) {
		pair(c, p, r);
		return;
	}
	later = mg_malloc(sizeof(*later));
	if (!later)
		return;
	*later = *r;
	later->rx->sock->kept.by++;
	later->next = p->reading;
	p->reading = later;
}

void parcel_passed(struct core *c, struct frame *f)
{
	struct parcel *p = f->parcel;

	if (f->is_done || f->waits)
		return;
	frame_is_over(f);
	if (is_settled(p)) {
		f->is_done = true;
		make_atoms(c, p, f);
		return;
	}
	f->waits = true;
	f->next_passed = p->passed;
	p->passed = f;
}

void parcel_settle(struct core *c, struct parcel *p, const struct slice *brought)
{
	struct slice *s = &p->first;
	struct frame *f;

	if (p->slices)
		s = mg_malloc(sizeof(*s));
	if (!s)
		return;
	*s = *brought;
	s->next = p->slices;
	p->slices = s;
	p->settled += s->len;
	if (!is_settled(p))
		return;
	if (p->handed)
		make_handed_atoms(c, p);
	while ((f = p->passed)) {
		p->passed = f->next_passed;
		f->waits = false;
		f->is_done = true;
		make_atoms(c, p, f);
		if (!f->is_known)
			free(f);
	}
	while (p->reading) {
		struct reading *r = p->reading;

		p->reading = r->next;
		pair(c, p, r);
		free_reading(r);
	}
}
