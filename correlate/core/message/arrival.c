/* SPDX-License-Identifier: MIT */
/*
 * Messages on their way to a program, a ring per socket: they are read in the order in which they
 * came.
 */
#include "message/arrival.h"

#include <stdlib.h>

#include "alloc.h"
#include "core.h"
#include "clock/clockmap.h"
#include "message/parcel.h"

/* Limit of the search: events of one packet follow each other closely. */
#define LOOK 64
/* A message that has not reached the queue by then never will. */
#define GIVE_UP_NS 20000000
/* The same limit for a message whose other parts are still under way. */
#define EXPIRED_NS 10000000000

struct arrival *arrival_at(const struct queues *q, uint32_t i)
{
	return q->ring[(q->head + i) & (q->cap - 1)];
}

struct arrival *arrival_get(struct arrival *a)
{
	a->refs++;
	return a;
}

void arrival_put(struct arrival *a)
{
	struct part *p, *next;

	if (--a->refs)
		return;
	for (p = &a->part; p; p = next) {
		next = p->next;
		if (p->from)
			parcel_put(p->from);
		if (p != &a->part)
			free(p);
	}
	a->in->arrivals--;
	free(a);
}

static void drop_first(struct queues *q)
{
	arrival_put(arrival_at(q, 0));
	q->head = (q->head + 1) & (q->cap - 1);
	q->n--;
}

static void trim(struct queues *q)
{
	while (q->n && arrival_at(q, 0)->is_gone)
		drop_first(q);
	while (q->n && arrival_at(q, q->n - 1)->is_gone) {
		arrival_put(arrival_at(q, q->n - 1));
		q->n--;
	}
}

void arrival_gone(struct queues *q, struct arrival *a)
{
	a->is_gone = true;
	trim(q);
}

uint64_t arrival_ready(const struct arrival *a)
{
	return a->ready ? a->ready : a->ready_elsewhere;
}

/* A message that is not in the queue yet may still come to it. */
void arrival_drop_older(
	const struct core *c, struct queues *q, const struct arrival *than, uint64_t now)
{
	uint64_t patience = clockmap_span(&c->clock, GIVE_UP_NS);

	while (q->n) {
		struct arrival *a = arrival_at(q, 0);
		uint64_t seen = a->part.ip ? a->part.ip : a->part.dev;

		if (a == than || (!arrival_ready(a) && seen + patience > now))
			return;
		arrival_gone(q, a);
	}
}

void arrival_expire(const struct core *c, struct queues *q, uint64_t now)
{
	uint64_t patience = clockmap_span(&c->clock, EXPIRED_NS);

	while (q->n) {
		struct arrival *a = arrival_at(q, 0);
		uint64_t seen = a->part.ip ? a->part.ip : a->part.dev;

		if (arrival_ready(a) || seen + patience > now)
			return;
		arrival_gone(q, a);
	}
}

void arrival_set_length(struct arrival *a, uint32_t len)
{
	struct queues *q = a->in;
	uint32_t i = q->n;

	a->len = a->part.len = len;
	q->came += len;
	while (i-- > 0 && arrival_at(q, i)->nth > a->nth)
		arrival_at(q, i)->off += len;
}

static bool reserve(struct queues *q)
{
	uint32_t cap = q->cap ? q->cap * 2 : 16;
	struct arrival **ring;

	if (q->n < q->cap)
		return true;
	if (q->cap == ARRIVALS_MAX) { /* the queue is not read: then the oldest was missed */
		drop_first(q);
		return true;
	}
	ring = mg_malloc(cap * sizeof(*ring));
	if (!ring)
		return false;
	for (uint32_t i = 0; i < q->n; i++)
		ring[i] = arrival_at(q, i);
	free(q->ring);
	q->ring = ring;
	q->head = 0;
	q->cap = cap;
	return true;
}

struct arrival *arrival_push(struct queues *q, uint32_t buffer, uint32_t len)
{
	struct arrival *a;

	if (!reserve(q))
		return NULL;
	a = mg_calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->refs = 1;
	a->buffer = buffer;
	a->len = len;
	a->off = q->came;
	a->cpu = -1;
	a->in = q;
	q->arrivals++;
	a->nth = q->pushed++;
	q->ring[(q->head + q->n++) & (q->cap - 1)] = a;
	return a;
}

struct arrival *arrival_newest(const struct queues *q, uint32_t buffer)
{
	for (uint32_t i = 0; i < q->n && i < LOOK; i++) {
		struct arrival *a = arrival_at(q, q->n - 1 - i);

		if (a->buffer == buffer && !a->is_gone)
			return a;
	}
	return NULL;
}

struct arrival *arrival_next(const struct queues *q, uint32_t buffer)
{
	for (uint32_t i = 0; i < q->n && i < LOOK; i++) {
		struct arrival *a = arrival_at(q, i);

		if (a->buffer == buffer && !a->is_gone)
			return a;
	}
	return NULL;
}

/* The first part is in the arrival itself. */
struct part *arrival_part(struct arrival *a, uint32_t off, uint32_t len)
{
	struct part *p = &a->part;

	if (p->len || p->dev || p->ip) {
		p = mg_calloc(1, sizeof(*p));
		if (!p)
			return NULL;
		p->next = a->part.next;
		a->part.next = p;
	}
	a->parts++;
	p->off = off;
	p->len = len;
	return p;
}
