/* SPDX-License-Identifier: MIT */
/* A packet, or what a layer handles as one, passes a layer of a flow. */
#ifndef MAGNET_CORRELATE_CORE_SUMS_LAYER_H
#define MAGNET_CORRELATE_CORE_SUMS_LAYER_H

#include "core.h"

struct passing {
	uint64_t t;      /* cycles */
	uint64_t offset; /* the first byte in the flow; FACT_NONE: bytes have no numbers there */
	uint64_t payload;
	uint64_t fresh;   /* bytes of the payload that had not passed the layer before */
	uint64_t wire;    /* bytes with headers, 0: not seen at this layer */
	uint64_t packets; /* segments, datagrams or fragments it stands for, 0: not seen */
};

/* Emits the packet, and adds it to what is known of the layer; `layer` is of the flow's direction.
 */
void layer_pass(struct core *c, struct flow *f, int layer, const struct passing *p);
/* The same for a call, or a piece of one, all of whose bytes are new. */
void layer_pass_call(
	struct core *c, struct flow *f, int layer, uint64_t t, uint64_t offset, uint64_t bytes);

#endif
