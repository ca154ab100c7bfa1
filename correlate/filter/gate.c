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

void gate_last(struct gated *g, struct core *c, const struct filter *f, enum fact kind)
{
	struct fact_listeners *l = &core_facts(c)->of[kind];

	g->filter = f;
	g->core = c;
	g->kind = kind;
	g->fn = l->listener[l->n - 1].fn;
	g->arg = l->listener[l->n - 1].arg;
	l->listener[l->n - 1].fn = pass;
	l->listener[l->n - 1].arg = g;
}
