/* SPDX-License-Identifier: MIT */
#include "filter/gate.h"

static void pass(void *arg, const void *fact)
{
	struct gated *g = arg;

	if (g->all)
		++*g->all;
	if (!filter_takes_fact(g->filter, g->core, g->kind, fact))
		return;
	if (g->taken)
		++*g->taken;
	g->fn(g->arg, fact);
}

uint32_t gate_listeners(struct gated *g, uint32_t room, struct core *c, const struct filter *f,
	enum fact kind, uint32_t first)
{
	struct fact_listeners *l = &core_facts(c)->of[kind];
	uint32_t used = 0;

	for (uint32_t i = first; i < l->n && used < room; i++, used++) {
		g[used] = (struct gated){.filter = f,
			.core = c,
			.kind = kind,
			.fn = l->listener[i].fn,
			.arg = l->listener[i].arg};
		l->listener[i].fn = pass;
		l->listener[i].arg = &g[used];
	}
	return used;
}
