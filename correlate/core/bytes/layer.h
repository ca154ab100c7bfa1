/* SPDX-License-Identifier: MIT */
/* A packet, or what a layer handles as one, passes a layer of a flow. */
#ifndef MAGNET_CORRELATE_CORE_BYTES_LAYER_H
#define MAGNET_CORRELATE_CORE_BYTES_LAYER_H

#include "core.h"

struct passing {
	uint64_t t;      /* cycles */
	uint64_t offset; /* the first byte in the flow; FACT_NONE: bytes have no numbers there */
	uint64_t payload;
	uint64_t fresh;   /* bytes of the payload that had not passed the layer before */
	uint64_t wire;    /* bytes with headers, 0: not seen at this layer */
	uint64_t packets; /* segments, datagrams or fragments it stands for, 0: not seen */
};

/* Emits the packet; `layer` is of the flow's direction. */
static inline void layer_pass(
	const struct core *c, struct flow *f, int layer, const struct passing *p)
{
	if (facts_wanted(&c->facts, FACT_packet))
		emit_packet(&c->facts, &(struct fact_packet){.time = p->t,
					       .flow = flow_fact(f),
					       .layer = FACT_LAYER(f->rx, layer),
					       .offset = p->offset,
					       .payload = p->payload,
					       .fresh = p->fresh,
					       .packets = p->packets ? p->packets : FACT_NONE,
					       .wire = p->wire ? p->wire : FACT_NONE});
}

/* The same for a call, or a piece of one, all of whose bytes are new. */
static inline void layer_pass_call(const struct core *c, struct flow *f, int layer, uint64_t t,
	uint64_t offset, uint64_t bytes)
{
	layer_pass(c, f, layer,
		&(struct passing){.t = t, .offset = offset, .payload = bytes, .fresh = bytes});
}

#endif
