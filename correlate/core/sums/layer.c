/* SPDX-License-Identifier: MIT */
#include "sums/layer.h"

#include "core.h"
#include "sums/units.h"

void layer_pass(struct core *c, struct flow *f, int layer, const struct passing *p)
{
	unit_pass(&f->units[layer], p->t, p->payload, p->fresh);
	if (p->wire || p->packets)
		unit_wire(&f->units[layer], p->wire, p->packets);
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

void layer_pass_call(
	struct core *c, struct flow *f, int layer, uint64_t t, uint64_t offset, uint64_t bytes)
{
	layer_pass(c, f, layer,
		&(struct passing){.t = t, .offset = offset, .payload = bytes, .fresh = bytes});
}
