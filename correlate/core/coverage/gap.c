/* SPDX-License-Identifier: MIT */
/* Tracks intervals in which events are missing, and which figures lack them. */
#include "coverage/gap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "options.h"
#include "clock/clockmap.h"

bool core_next_loss(const struct core *c, uintptr_t *at, struct fact_loss *to)
{
	const struct gap *g;

	if (*at >= c->losses.gap_count)
		return false;
	g = &c->losses.gaps[(*at)++];
	*to = (struct fact_loss){.begin = g->from_ns,
		.end = g->to_ns,
		.reason = g->reason < FACT_NO_WORD ? (uint8_t)g->reason : FACT_NO_WORD,
		.producer = g->producer,
		.cpu = g->cpu,
		.events = g->count,
		.layers = g->layers,
		.missing = g->events};
	return true;
}

static void tell_last(const struct core *c)
{
	uintptr_t last = c->losses.gap_count - 1;
	struct fact_loss f;

	if (!core_next_loss(c, &last, &f))
		return;
	if (!f.events) /* their number is not known */
		f.events = FACT_NONE;
	emit_loss(&c->facts, &f);
}

bool gap_keep(struct core *c, struct gap *g)
{
	struct gap *more = mg_realloc(c->losses.gaps, (c->losses.gap_count + 1) * sizeof(*more));

	if (!more)
		return false;
	c->losses.gaps = more;
	if (g->cpu >= CPUS_MAX) /* such a CPU number is not believed: figures are kept per CPU */
		g->cpu = -1;
	more[c->losses.gap_count++] = *g;
	if (facts_wanted(&c->facts, FACT_loss))
		tell_last(c);
	return true;
}

void gap_mark(struct mg_sock *s, uint32_t layers, struct mg_events events)
{
	s->tx.missing.gaps++;
	s->rx.missing.gaps++;
	s->tx.missing.layers |= layers;
	s->rx.missing.layers |= layers;
	mg_events_add_all(&s->tx.missing.events, events);
	mg_events_add_all(&s->rx.missing.events, events);
}

void gap_on_new_socket(struct core *c, struct mg_sock *s)
{
	if (c->times.kernel_until_ns < c->losses.not_here.until_ns)
		gap_mark(s, c->losses.not_here.layers, c->losses.not_here.events);
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

/*
 * Returns events that may be missing where tracing programs were not run: those of interrupts on
 * top of process 1, which makes no calls on traced sockets.
 */
static struct mg_events not_run(void)
{
	struct mg_events of = mg_events_all();

	of = mg_events_without(
		of, MG_EVENTS(ip_out, ip_post, ip_in, ip_forward, ip_header, ip_recv));
	of = mg_events_without(of, MG_EVENTS(sys_enter, sys_exit, zerocopy_sent, stack_call));
	of = mg_events_without(of, MG_EVENTS(tcp_send, sock_sent, sock_received, sock_copy));
	/* programs for sockets are run all the same */
	return mg_events_without(of, MG_EVENTS(stamp_send, stamp_queue, stamp_driver, stamp_ack));
}

struct mg_events gap_events_of(const struct mg_lost *p)
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
	if (p->reason == MG_LOST_NOT_RUN)
		return not_run();
	if (p->reason == MG_LOST_CHOSEN || p->reason == MG_LOST_APP_NOT_HERE)
		return none;
	return gap_is_app(p->reason) ? none : mg_events_all();
}

uint32_t gap_layers_of(const struct mg_lost *p)
{
	switch (p->reason) {
	case MG_LOST_SKIPPED:
		return layer_of(p->producer);
	case MG_LOST_NOT_FOLLOWED: /* its calls are recorded, its packets are not */
		return MG_ALL_LAYERS & ~(1u << MG_LAYER_SYSCALL | 1u << MG_LAYER_SCHED);
	case MG_LOST_NOT_RUN:
		return 1u << MG_LAYER_TCP | 1u << MG_LAYER_DEVICE | 1u << MG_LAYER_GRO |
		       1u << MG_LAYER_SCHED | 1u << MG_LAYER_SWITCH;
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
	return loss_is_one(g->reason);
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

uint32_t flow_unit_layers(bool rx, int layer)
{
	return rx ? rx_seen[layer] : tx_seen[layer];
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
	core_await_listeners(c);
	if (tx)
		does->gap(c->attached.what, flow_fact(&s->tx), tx, h->from, h->to);
	if (rx)
		does->gap(c->attached.what, flow_fact(&s->rx), rx, h->from, h->to);
}

const struct hole *gap_note_hole(
	struct core *c, uint32_t layers, int32_t cpu, uint64_t from_ns, uint64_t to_ns)
{
	struct hole h, *to;

	if (!layers || !clockmap_valid(&c->clock))
		return NULL;
	memset(&h, 0, sizeof(h));
	h.from = clockmap_cycles(&c->clock, from_ns);
	h.to = clockmap_cycles(&c->clock, to_ns);
	h.cpu = cpu;
	h.layers = layers;
	for (uint32_t i = 0; i < HOLES; i++)
		if (memcmp(&c->losses.holes[i], &h, sizeof(h)) == 0)
			return NULL; /* known since it was read */
	to = &c->losses.holes[c->losses.hole_next++ % HOLES];
	*to = h;
	if (h.to > c->losses.holes_until)
		c->losses.holes_until = h.to;
	return to;
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

bool gap_is_of_reader(const struct mg_event *e)
{
	return e->id == MG_EVENT_lost &&
	       (e->lost.reason == MG_LOST_NOT_HERE || e->lost.reason == MG_LOST_APP_NOT_HERE);
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
	gap_keep(c, &g);
}
