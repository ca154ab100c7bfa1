/* SPDX-License-Identifier: MIT */
/* Intervals in which events are missing, and which figures miss them. */
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "event_table.h"
#include "options.h"

#define STATE_CLOSE 7

/* Every connection that lived then is touched; one that was closed before is not. */
static void add(struct core *c, const struct gap *g)
{
	struct gap *more = realloc(c->gaps, (c->gap_count + 1) * sizeof(*more));
	struct mg_sock *s, *tmp;

	if (!more)
		return;
	c->gaps = more;
	more[c->gap_count++] = *g;
	if (!g->layers)
		return;
	HASH_ITER (hh, c->socks, s, tmp) {
		if (s->state == STATE_CLOSE)
			continue;
		s->tx.gaps++;
		s->rx.gaps++;
		s->tx.touched |= g->layers;
		s->rx.touched |= g->layers;
	}
}

void core_lost_app(struct core *c, uint64_t count, uint64_t from_ns, uint64_t to_ns, int cpu)
{
	struct gap g = {.producer = "lttng-ust",
		.cpu = cpu,
		.count = count,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.reason = MG_LOST_APP,
		.layers = 1u << MG_LAYER_APP};

	c->lost_app += count;
	add(c, &g);
}

/* A program that was skipped feeds one event, of one layer. */
static uint32_t layer_of(const char *producer)
{
	const struct mg_event_desc *d;
	char name[33];

	memcpy(name, producer, 32);
	name[32] = 0;
	name[strcspn(name, " ")] = 0;
	d = mg_event_by_name(name);
	return d ? 1u << d->layer : MG_ALL_LAYERS;
}

static uint32_t layers_of(const struct mg_lost *p)
{
	switch (p->reason) {
	case MG_LOST_SKIPPED:
		return layer_of(p->producer);
	case MG_LOST_NOT_FOLLOWED: /* its calls are there, its packets are not */
		return MG_ALL_LAYERS & ~(1u << MG_LAYER_SYSCALL | 1u << MG_LAYER_SCHED);
	case MG_LOST_CHOSEN:
		return 0;
	default:
		return gap_is_app(p->reason) ? 1u << MG_LAYER_APP : MG_ALL_LAYERS;
	}
}

bool gap_is_app(uint32_t reason)
{
	return reason >= MG_LOST_APP && reason < MG_LOST_CHOSEN;
}

bool gap_is_loss(const struct gap *g)
{
	return g->reason != MG_LOST_PAUSED && g->reason != MG_LOST_NOT_KEPT;
}

/* What threads were doing goes on unseen: the calls they are in have no figures. */
static void forget_threads(struct core *c)
{
	struct thread *t, *tmp;

	HASH_ITER (hh, c->threads, t, tmp) {
		if (t->in_call) {
			call_no_longer_open(c, &t->now);
			kernel_call_free(&t->now);
		}
		t->in_call = t->off_cpu = t->in_softirq = t->woken = t->held = false;
		t->mark_n = 0;
	}
}

void gap_on_lost(struct core *c, const struct mg_lost *p)
{
	struct gap g = {.cpu = p->cpu,
		.count = p->count,
		.from_ns = p->from_ns,
		.to_ns = p->to_ns,
		.reason = p->reason,
		.layers = layers_of(p)};

	memcpy(g.producer, p->producer, sizeof(g.producer) - 1);
	if (!gap_is_loss(&g))
		forget_threads(c);
	else if (gap_is_app(p->reason))
		c->lost_app += p->count;
	else
		c->lost_kernel += p->count;
	add(c, &g);
}

void gap_on_chunk(struct core *c, const struct mg_chunk *p)
{
	struct mg_lost l = {.from_ns = p->before_ns,
		.to_ns = p->from_ns,
		.cpu = -1,
		.reason = MG_LOST_NOT_KEPT,
		.producer = "not kept"};

	if (p->before_ns && p->before_ns < p->from_ns)
		gap_on_lost(c, &l);
}
