/* SPDX-License-Identifier: MIT */
/* Handles losses: what the threads and sockets that lived through them no longer know. */
#include "trace/loss.h"

#include <stdio.h>
#include <string.h>

#include "core.h"
#include "event_table.h"
#include "call/call.h"
#include "coverage/gap.h"
#include "socket/socket.h"
#include "stream/why_split.h"
#include "task/thread.h"
#include "task/threads.h"

static void touch(struct mg_sock *s, uint32_t layers, struct mg_events events)
{
	gap_mark(s, layers, events);
	if (mg_events_meet(events, MG_EVENTS(tcp_send, tcp_recv, ip_out, ip_in)))
		why_on_gap(s->tx.why);
}

/* Marks every connection that lived then; one closed before is not concerned. */
static void add(struct core *c, struct gap *g)
{
	struct mg_sock *s = NULL;

	if (!gap_keep(c, g) || !g->layers)
		return;
	while ((s = sock_next_live(c, s)))
		if (s->state != MG_TCP_CLOSE)
			touch(s, g->layers, g->events);
}

/* Tells the listener's flows that live, too. */
static void note_hole(
	struct core *c, uint32_t layers, int32_t cpu, uint64_t from_ns, uint64_t to_ns)
{
	const struct hole *h = gap_note_hole(c, layers, cpu, from_ns, to_ns);
	struct mg_sock *s = NULL;

	while (h && (s = sock_next_live(c, s)))
		gap_touch(c, s, h);
}

void loss_foresee(struct core *c, const struct mg_lost *p)
{
	note_hole(c, gap_layers_of(p), p->cpu, p->from_ns, p->to_ns);
}

/* Drops the state of threads that go on unobserved: their current calls get no figures. */
static void forget_threads(struct core *c)
{
	struct thread *t, *tmp;

	HASH_ITER (hh, c->tasks.threads, t, tmp) {
		if (!t->has_ended)
			thread_wait_lost(c, t);
		if (t->in_call)
			call_abandon(c, t);
		t->away.now = t->in_softirq = t->wake.valid = t->away.held = false;
		t->user.n = 0;
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

	c->counts.lost_app += count;
	note_hole(c, g.layers, cpu, from_ns, to_ns);
	add(c, &g);
}

void core_overwritten_app(struct core *c, uint64_t from_ns, uint64_t to_ns, int cpu)
{
	struct gap g = {.producer = "overwritten by lttng-ust",
		.cpu = cpu,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.reason = MG_LOST_NOT_KEPT,
		.layers = 1u << MG_LAYER_APP};

	note_hole(c, g.layers, cpu, from_ns, to_ns);
	add(c, &g);
}

/*
 * Handles packets or parts that were written and are missing. The gap is reported where it begins:
 * threads go on unobserved, and connections that open within it are marked as they are met.
 */
static void not_here(struct core *c, struct gap *g)
{
	if (mg_events_any(g->events)) {
		forget_threads(c);
		if (g->to_ns > c->losses.not_here.until_ns)
			c->losses.not_here.until_ns = g->to_ns;
		c->losses.not_here.layers = g->layers;
		c->losses.not_here.events = g->events;
	}
	note_hole(c, g->layers, g->cpu, g->from_ns, g->to_ns);
	add(c, g);
}

static void parts_not_here(struct core *c, uint32_t reason, uint64_t n, uint64_t from, uint64_t to)
{
	const struct mg_lost p = {.reason = reason};
	struct gap g = {.cpu = -1,
		.count = n,
		.from_ns = from,
		.to_ns = to,
		.reason = MG_LOST_NOT_HERE,
		.layers = gap_layers_of(&p),
		.events = gap_events_of(&p)};

	snprintf(g.producer, sizeof(g.producer), "%s", n == 1 ? "part" : "parts");
	c->rotated.parts_missing += (uint32_t)n;
	not_here(c, &g);
}

void loss_on_event(struct core *c, const struct mg_lost *p)
{
	struct gap g = {.cpu = p->cpu,
		.count = p->count,
		.from_ns = p->from_ns,
		.to_ns = p->to_ns,
		.reason = p->reason == MG_LOST_APP_NOT_HERE ? MG_LOST_NOT_HERE : p->reason,
		.layers = gap_layers_of(p),
		.events = gap_events_of(p)};

	memcpy(g.producer, p->producer, sizeof(g.producer) - 1);
	if (g.reason == MG_LOST_NOT_HERE) {
		not_here(c, &g);
		return;
	}
	if (!gap_is_loss(&g))
		forget_threads(c);
	else if (gap_is_app(p->reason))
		c->counts.lost_app += p->count;
	else
		c->counts.lost_kernel += p->count;
	loss_foresee(c, p); /* where the clock was not known yet */
	add(c, &g);
}

void loss_on_chunk(struct core *c, const struct mg_chunk *p)
{
	struct mg_lost l = {.from_ns = p->before_ns,
		.to_ns = p->from_ns,
		.cpu = -1,
		.reason = MG_LOST_NOT_KEPT,
		.producer = "not kept"};

	if (c->rotated.part && p->number > c->rotated.part + 1)
		parts_not_here(c, MG_LOST_NOT_HERE, p->number - c->rotated.part - 1,
			c->rotated.part_ended_ns, p->before_ns);
	if (p->before_ns && p->before_ns < p->from_ns)
		loss_on_event(c, &l);
}

void loss_of_app_parts(
	struct core *c, uint64_t from_ns, const struct mg_app_begin *p, uint32_t count)
{
	struct gap g = {.producer = "application side, not kept",
		.cpu = -1,
		.from_ns = from_ns < p->from_ns ? from_ns : p->from_ns,
		.to_ns = p->from_ns,
		.reason = MG_LOST_NOT_KEPT,
		.layers = 1u << MG_LAYER_APP};

	if (p->flight) {
		gap_keep(c, &g);
		return;
	}
	parts_not_here(c, MG_LOST_APP_NOT_HERE, count, g.from_ns, g.to_ns);
}
