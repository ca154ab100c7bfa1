/* SPDX-License-Identifier: MIT */
/* Tracks intervals in which events are missing, and which figures lack them. */
#include "trace/gap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "enums.h"
#include "event_table.h"
#include "options.h"
#include "clock/clockmap.h"
#include "clock/queue.h"
#include "socket/socket.h"
#include "stream/why_split.h"
#include "task/call.h"
#include "task/thread.h"
#include "task/threads.h"

#define STATE_CLOSE 7

static void tell(struct core *c, const struct gap *g)
{
	char layers[128];
	struct fact_loss f = {.begin = clockmap_cycles(&c->clock, g->from_ns),
		.end = clockmap_cycles(&c->clock, g->to_ns),
		.reason = mg_enum_name(&mg_names_e_lost, g->reason),
		.producer = g->producer,
		.cpu = g->cpu,
		.events = g->count ? g->count : FACT_NONE,
		.layers = layers};
	size_t n = 0;

	layers[0] = 0;
	for (int i = 0; i < MG_LAYER_END; i++)
		if (g->layers >> i & 1)
			n += (size_t)snprintf(layers + n, sizeof(layers) - n, "%s%s", n ? "," : "",
				mg_layer_names[i]);
	emit_loss(&c->facts, &f);
}

static bool keep(struct core *c, struct gap *g)
{
	struct gap *more = mg_realloc(c->losses.gaps, (c->losses.gap_count + 1) * sizeof(*more));

	if (!more)
		return false;
	c->losses.gaps = more;
	if (g->cpu >= CPUS_MAX) /* such a CPU number is not believed: figures are kept per CPU */
		g->cpu = -1;
	more[c->losses.gap_count++] = *g;
	if (facts_wanted(&c->facts, FACT_loss))
		tell(c, g);
	return true;
}

static void touch(struct mg_sock *s, uint32_t layers, struct mg_events events)
{
	s->tx.missing.gaps++;
	s->rx.missing.gaps++;
	s->tx.missing.layers |= layers;
	s->rx.missing.layers |= layers;
	mg_events_add_all(&s->tx.missing.events, events);
	mg_events_add_all(&s->rx.missing.events, events);
	if (mg_events_meet(events, MG_EVENTS(tcp_send, tcp_recv, ip_out, ip_in)))
		why_on_gap(s->tx.why);
}

/* Marks every connection that lived then; one closed before is not concerned. */
static void add(struct core *c, struct gap *g)
{
	struct mg_sock *s = NULL;

	if (!keep(c, g) || !g->layers)
		return;
	while ((s = sock_next_live(c, s)))
		if (s->state != STATE_CLOSE)
			touch(s, g->layers, g->events);
}

void gap_on_new_socket(struct core *c, struct mg_sock *s)
{
	if (c->times.kernel_until_ns < c->losses.not_here.until_ns)
		touch(s, c->losses.not_here.layers, c->losses.not_here.events);
}

/* Returns the event that a skipped program feeds. */
static const struct mg_event_desc *event_of(const char *producer)
{
	char name[33];

	memcpy(name, producer, 32);
	name[32] = 0;
	name[strcspn(name, " ")] = 0;
	return mg_event_by_name(name);
}

static uint32_t layer_of(const char *producer)
{
	const struct mg_event_desc *d = event_of(producer);

	return d ? 1u << d->layer : MG_ALL_LAYERS;
}

/* Returns events that are missing along with another one. */
static struct mg_events missing_with(unsigned int id)
{
	static const struct {
		uint16_t event, by;
	} stored[] = {
#define STORED(event, by) {MG_EVENT_##event, MG_EVENT_##by},
		MG_STORED_EVENTS(STORED)
#undef STORED
	};
	struct mg_events with = {{0}};

	for (size_t i = 0; i < sizeof(stored) / sizeof(stored[0]); i++)
		if (stored[i].by == id)
			mg_events_add(&with, stored[i].event);
	return with;
}

static struct mg_events events_of(const struct mg_lost *p)
{
	static const struct mg_events none;
	const struct mg_event_desc *d = p->reason == MG_LOST_SKIPPED ? event_of(p->producer) : NULL;

	if (d && MG_IS_RING(d->id)) {
		struct mg_events of = missing_with(d->id);

		mg_events_add(&of, d->id);
		return of;
	}
	if (p->reason == MG_LOST_CALLS)
		return MG_EVENTS(sys_enter, sys_exit);
	if (p->reason == MG_LOST_CHOSEN || p->reason == MG_LOST_APP_NOT_HERE)
		return none;
	return gap_is_app(p->reason) ? none : mg_events_all();
}

static uint32_t layers_of(const struct mg_lost *p)
{
	switch (p->reason) {
	case MG_LOST_SKIPPED:
		return layer_of(p->producer);
	case MG_LOST_NOT_FOLLOWED: /* its calls are recorded, its packets are not */
		return MG_ALL_LAYERS & ~(1u << MG_LAYER_SYSCALL | 1u << MG_LAYER_SCHED);
	case MG_LOST_CALLS:
		return 1u << MG_LAYER_SYSCALL;
	case MG_LOST_CHOSEN:
		return 0;
	case MG_LOST_APP_NOT_HERE:
		return 1u << MG_LAYER_APP;
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
	return g->reason != MG_LOST_PAUSED && g->reason != MG_LOST_NOT_KEPT &&
	       g->reason != MG_LOST_NOT_COVERED && g->reason != MG_LOST_NOT_HERE;
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

/*
 * Layers whose events make up the packets of a flow's layer; for calls also the pieces they copied.
 */
#define AT(layer) 1u << MG_LAYER_##layer
static const uint32_t tx_seen[TX_LAYERS] = {[TX_CALL] = AT(APP) | AT(SYSCALL) | AT(SOCKET),
	[TX_COPY] = AT(SYSCALL) | AT(SOCKET),
	[TX_IP_OUT] = AT(IP),
	[TX_IP_POST] = AT(IP),
	[TX_QUEUE] = AT(DEVICE),
	[TX_XMIT] = AT(DEVICE),
	[TX_DONE] = AT(DEVICE)};
static const uint32_t rx_seen[RX_LAYERS] = {[RX_DEV] = AT(DEVICE),
	[RX_IP] = AT(IP),
	[RX_TCP] = AT(TCP),
	[RX_READY] = AT(TCP),
	[RX_COPY] = AT(SYSCALL) | AT(SOCKET),
	[RX_CALL] = AT(APP) | AT(SYSCALL) | AT(SOCKET)};

uint32_t flow_unit_layers(const struct flow *f, int layer)
{
	return f->rx ? rx_seen[layer] : tx_seen[layer];
}

/* Returns the layers of a flow that lack events of the hole, as bits. */
static uint32_t lacking(const uint32_t *seen, int layers, const struct hole *h)
{
	uint32_t bits = 0;

	for (int i = 0; i < layers; i++)
		if (h->layers & seen[i])
			bits |= 1u << i;
	return bits;
}

void gap_touch(const struct core *c, struct mg_sock *s, const struct hole *h)
{
	const struct core_client *does = &c->attached.does;
	uint32_t tx = lacking(tx_seen, TX_LAYERS, h), rx = lacking(rx_seen, RX_LAYERS, h);

	if (!c->attached.what)
		return;
	if (tx)
		does->gap(c->attached.what, flow_fact(&s->tx), tx, h->from, h->to);
	if (rx)
		does->gap(c->attached.what, flow_fact(&s->rx), rx, h->from, h->to);
}

static void note_hole(
	struct core *c, uint32_t layers, int32_t cpu, uint64_t from_ns, uint64_t to_ns)
{
	struct mg_sock *s = NULL;
	struct hole h;

	if (!layers || !clockmap_valid(&c->clock))
		return;
	memset(&h, 0, sizeof(h));
	h.from = clockmap_cycles(&c->clock, from_ns);
	h.to = clockmap_cycles(&c->clock, to_ns);
	h.cpu = cpu;
	h.layers = layers;
	for (uint32_t i = 0; i < HOLES; i++)
		if (memcmp(&c->losses.holes[i], &h, sizeof(h)) == 0)
			return; /* already known by gap_foresee() */
	c->losses.holes[c->losses.hole_next++ % HOLES] = h;
	if (h.to > c->losses.holes_until)
		c->losses.holes_until = h.to;
	while ((s = sock_next_live(c, s)))
		gap_touch(c, s, &h);
}

void gap_foresee(struct core *c, const struct mg_lost *p)
{
	note_hole(c, layers_of(p), p->cpu, p->from_ns, p->to_ns);
}

bool gap_within(
	const struct core *c, enum mg_layer layer, uint64_t from, uint64_t to, int cpu_a, int cpu_b)
{
	if (from >= c->losses.holes_until)
		return false;
	for (uint32_t i = 0; i < HOLES; i++) {
		const struct hole *h = &c->losses.holes[i];
		bool there =
			h->cpu < 0 || cpu_a < 0 || cpu_b < 0 || h->cpu == cpu_a || h->cpu == cpu_b;

		if (there && h->layers >> layer & 1 && h->from < to && h->to > from)
			return true;
	}
	return false;
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
		.layers = layers_of(&p),
		.events = events_of(&p)};

	snprintf(g.producer, sizeof(g.producer), "%s", n == 1 ? "part" : "parts");
	c->rotated.parts_missing += (uint32_t)n;
	not_here(c, &g);
}

/*
 * Makes an event for the gap, as the trace has none: earlier events may still wait for the clock.
 */
void core_missing_packets(struct core *c, enum core_side which, uint64_t count, uint64_t from_ns,
	uint64_t to_ns, int cpu)
{
	struct mg_event *e = core_room(c);

	if (!e)
		return;
	memset(e, 0, queue_size_of(&(struct mg_event){.id = MG_EVENT_lost}));
	e->id = MG_EVENT_lost;
	e->time_ns = from_ns;
	e->cpu = (int16_t)cpu;
	e->lost = (struct mg_lost){.count = count,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.cpu = cpu,
		.reason = which == CORE_APP ? MG_LOST_APP_NOT_HERE : MG_LOST_NOT_HERE};
	snprintf(e->lost.producer, sizeof(e->lost.producer), "%s",
		count == 1 ? "packet" : "packets");
	core_put(c);
}

bool gap_is_of_reader(const struct mg_event *e)
{
	return e->id == MG_EVENT_lost &&
	       (e->lost.reason == MG_LOST_NOT_HERE || e->lost.reason == MG_LOST_APP_NOT_HERE);
}

void gap_on_lost(struct core *c, const struct mg_lost *p)
{
	struct gap g = {.cpu = p->cpu,
		.count = p->count,
		.from_ns = p->from_ns,
		.to_ns = p->to_ns,
		.reason = p->reason == MG_LOST_APP_NOT_HERE ? MG_LOST_NOT_HERE : p->reason,
		.layers = layers_of(p),
		.events = events_of(p)};

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
	gap_foresee(c, p); /* where the clock was not known yet */
	add(c, &g);
}

void gap_on_chunk(struct core *c, const struct mg_chunk *p)
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
		gap_on_lost(c, &l);
}

/*
 * Marks the gap after a side's end; the caller reports flows that outlast it, and later ones lack
 * nothing.
 */
void gap_not_covered(struct core *c, enum core_side which, uint64_t from_ns, uint64_t to_ns)
{
	struct gap g = {.cpu = -1,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.reason = MG_LOST_NOT_COVERED,
		.layers = which == CORE_APP ? 1u << MG_LAYER_APP : MG_ALL_LAYERS};

	snprintf(g.producer, sizeof(g.producer), "%s side",
		which == CORE_APP ? "application" : "kernel");
	keep(c, &g);
}

void gap_app_parts(struct core *c, uint64_t from_ns, const struct mg_app_begin *p, uint32_t count)
{
	struct gap g = {.producer = "application side, not kept",
		.cpu = -1,
		.from_ns = from_ns < p->from_ns ? from_ns : p->from_ns,
		.to_ns = p->from_ns,
		.reason = MG_LOST_NOT_KEPT,
		.layers = 1u << MG_LAYER_APP};

	if (p->flight) {
		keep(c, &g);
		return;
	}
	parts_not_here(c, MG_LOST_APP_NOT_HERE, count, g.from_ns, g.to_ns);
}
