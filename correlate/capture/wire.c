/* SPDX-License-Identifier: MIT */
#include "capture/wire.h"

#include <math.h>
#include <string.h>

static struct wire_flow *flow_of(struct wire *w, const struct traffic_packet *p)
{
	struct wire_flow key = {.key = {p->sock, traffic_is_rx(p)}}, *f = NULL;

	HASH_FIND(hh, w->flows, &key.key, sizeof(key.key), f);
	if (f)
		return f;
	f = mg_calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->key = key.key;
	HASH_ADD(hh, w->flows, key, sizeof(f->key), f);
	return hash_kept(f);
}

static void add_time(struct wire_time *t, uint64_t ns, uint64_t bytes, double half)
{
	dist_add(&t->dist, ns, bytes);
	t->half = half > t->half || isnan(half) ? half : t->half;
}

/* Returns the time between two events; one below 0, which is within the error, counts as 0. */
static uint64_t between(uint64_t from, uint64_t to)
{
	return to > from ? to - from : 0;
}

/* Bytes [from, to) of a flow as they were captured. */
struct piece {
	const struct traffic_packet *packet;
	uint64_t from, to;
	uint64_t time_ns; /* at the wire, by the recording's clock */
	double half;      /* bound of its error, ns */
};

/* Emits the times of bytes that one call moved; NULL: no call is known to have moved them. */
static void tell(const struct wire *w, const struct piece *b, const struct traffic_call *call)
{
	const struct traffic_packet *p = b->packet;
	bool rx = traffic_is_rx(p);

	emit_wire(core_facts(w->annotate.t->core), &(struct fact_wire){.flow = {p->sock, rx, NULL},
							   .offset = b->from,
							   .length = b->to - b->from,
							   .wire = b->time_ns,
							   .error = b->half,
							   .device = p->time_ns,
							   .call = !call ? 0
								   : rx  ? call->end_ns
									 : call->begin_ns});
}

static void add_call(const struct wire *w, struct wire_flow *f, const struct piece *b,
	const struct traffic_call *c)
{
	const struct traffic_packet *p = b->packet;
	double join = w->annotate.t->join_error_ns;
	bool rx = traffic_is_rx(p);
	uint64_t device = rx ? between(b->time_ns, p->time_ns) : between(p->time_ns, b->time_ns);
	uint64_t call = rx ? between(p->time_ns, c->end_ns) : between(c->begin_ns, p->time_ns);

	add_time(&f->device, device, b->to - b->from, b->half);
	add_time(&f->call, call, b->to - b->from, join);
	add_time(&f->total, call + device, b->to - b->from, b->half + join);
	tell(w, b, c);
}

/* Adds bytes by the calls that moved them; those for which no call is known have no times. */
static void add_bytes(const struct wire *w, struct wire_flow *f, const struct piece *all)
{
	const struct traffic_packet *p = all->packet;
	struct piece rest = *all;
	size_t count;
	const struct traffic_call *c =
		traffic_calls(w->annotate.t, p->sock, traffic_is_rx(p), all->from, all->to, &count);

	for (size_t i = 0; i < count; i++) {
		uint64_t from = c[i].offset > rest.from ? c[i].offset : rest.from;
		uint64_t end = c[i].offset + c[i].bytes, to = end < all->to ? end : all->to;
		struct piece one = rest;

		if (to <= from)
			continue;
		one.to = from;
		if (one.to > one.from)
			tell(w, &one, NULL);
		one.from = from;
		one.to = to;
		add_call(w, f, &one, &c[i]);
		rest.from = to;
	}
	if (rest.to > rest.from)
		tell(w, &rest, NULL);
}

static void add_packet(struct wire *w, const struct captured *c, const struct frame *f,
	const struct matched *m, uint64_t time_ns, double half)
{
	const struct traffic_packet *p = m->packet;
	struct wire_flow *to = p ? flow_of(w, p) : NULL;
	uint64_t offset;

	if (!to)
		return;
	to->packets++;
	to->bytes += f->len;
	to->wire_bytes += c->original;
	if (!f->len || isnan(half))
		return;
	unit_add(&to->units, time_ns, f->len);
	offset = annotate_offset(p, f);
	if (offset != FACT_NONE)
		add_bytes(w, to, &(struct piece){p, offset, offset + f->len, time_ns, half});
}

static void take(struct wire *w, const struct captured *c)
{
	static const struct match_places at = {PLACE_DRIVER, PLACE_DEVICE};
	struct matched sent, received;
	uint64_t time_ns = 0;
	double half = NAN;
	struct frame f;

	w->packets++;
	if (frame_parse(&f, c->interface->link_type, c->data, c->length, c->original) != FRAME_NONE)
		return;
	if (c->has_time)
		time_ns = capture_clock_time(&w->annotate.clock, c->ns, &half);
	if (match_frame(&w->annotate.matcher, &f, at, time_ns, &sent, &received) != MATCH_NONE)
		return;
	w->found++;
	add_packet(w, c, &f, &sent, time_ns, half);
	add_packet(w, c, &f, &received, time_ns, half);
}

int wire_read(struct wire *w, const struct traffic *t, struct capture_reader *capture)
{
	struct captured c;
	int got = annotate_begin(&w->annotate, t, capture);

	if (got)
		return -1;
	while ((got = capture_next(capture)) > 0) {
		got = capture_packet(capture, &c);
		if (got < 0)
			break;
		if (got)
			take(w, &c);
	}
	return got;
}

const struct wire_flow *wire_flow(const struct wire *w, struct fact_flow_id flow)
{
	struct wire_flow key = {.key = {flow.sock, flow.rx}}, *f = NULL;

	HASH_FIND(hh, w->flows, &key.key, sizeof(key.key), f);
	return f;
}

void wire_free(struct wire *w)
{
	struct wire_flow *f, *tmp;

	HASH_ITER (hh, w->flows, f, tmp) {
		HASH_DEL(w->flows, f);
		unit_free(&f->units);
		dist_free(&f->device.dist);
		dist_free(&f->call.dist);
		dist_free(&f->total.dist);
		free(f);
	}
	annotate_free(&w->annotate);
}
