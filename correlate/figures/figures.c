/* SPDX-License-Identifier: MIT */
#include "figures/figures.h"

#include <stdlib.h>

#include "alloc.h"
#include "figures/bound.h"
#include "figures/measures_pack.h"
#include "figures/window.h"

static void finish(void *what)
{
	struct figures *f = what;

	call_table_finish(&f->calls);
	exchange_table_finish(&f->exchanges);
	stack_table_finish(&f->stacks);
}

static void free_all(void *what)
{
	struct figures *f = what;

	call_table_free(&f->calls);
	sched_free(&f->sched);
	drops_free(&f->drops);
	exchange_table_free(&f->exchanges);
	connects_free(&f->connects);
	stack_table_free(&f->stacks);
	dist_pool_free(&f->memory.dists);
	free(f);
}

/* `what` is the figures, and at the same time their first member, the memory of the measures. */
_Static_assert(offsetof(struct figures, memory) == 0, "the functions of measures are given both");

static const struct core_client client = {
	.finish = finish,
	.free = free_all,
	.between = bound_between,
	.gap = measures_on_gap,
	.ended = measures_ended,
	.trim = bound_trim,
	.free_state = measures_free_state,
	.fits = measures_fit,
	.size = measures_size,
	.pack = measures_pack,
	.unpack = measures_unpack,
	.packed = bound_packed,
};

void figures_attach(struct core *c)
{
	struct figures *f = mg_calloc(1, sizeof(*f));

	if (!f)
		return;
	bound_init(&f->memory);
	measures_listen(&f->memory, c);
	call_table_listen(&f->calls, c);
	sched_listen(&f->sched, c);
	drops_listen(&f->drops, c);
	stack_table_listen(&f->stacks, c);
	exchange_table_listen(&f->exchanges, c);
	connects_listen(&f->connects, c);
	core_attach(c, f, &client);
	f->listeners = facts_listeners(core_facts(c));
}

void figures_apart(struct core *c)
{
	const struct figures *f = core_attached(c);

	if (f && !f->filter && f->listeners == facts_listeners(core_facts(c)))
		core_listen_apart(c);
}

/*
 * Measures of a flow are kept of all flows, as the other end's may be needed, without what is
 * outside of the window. Sums of several flows are made of what was chosen.
 */
void figures_filter(struct core *c, const struct filter *filter)
{
	static const enum fact gated[] = {FACT_call, FACT_wait, FACT_switch, FACT_switch_cost,
		FACT_drop, FACT_stack, FACT_connect, FACT_exchange};
	uint32_t used = 0;
	struct figures *f = core_attached(c);

	if (!f || !filter_is_set(filter))
		return;
	f->filter = filter;
	for (size_t i = 0; i < sizeof(gated) / sizeof(gated[0]); i++)
		used += gate_listeners(&f->gate[used], FIGURES_GATES - used, c, filter, gated[i],
			gated[i] == FACT_exchange ? 1 : 0); /* after measures */
	f->gate[0].all = &f->calls_all;
	f->gate[0].taken = &f->calls_taken;
	if (!filter_has_window(filter))
		return;
	f->memory.filter = filter;
	f->memory.core = c;
	window_listen(&f->memory, c);
}

void figures_in_window(struct core *c, struct fact_flow *f)
{
	const struct filter *filter = figures_of(c)->filter;

	if (filter && filter_has_window(filter))
		window_apply(f);
}

bool figures_take_flow(struct core *c, struct fact_flow *f)
{
	const struct filter *filter = figures_of(c)->filter;

	if (filter && !filter_takes_fact(filter, c, FACT_flow, f))
		return false;
	figures_in_window(c, f);
	return true;
}

void figures_keep_series(struct core *c, size_t bytes)
{
	struct figures *f = core_attached(c);

	if (f)
		f->memory.series.limit = bytes;
}

void figures_keep_slowest(struct core *c, uint32_t n)
{
	struct figures *f = core_attached(c);

	if (!f)
		return;
	exchange_table_keep(&f->exchanges, n);
	f->memory.slowest = n;
}

void figures_keep_exchange(struct core *c, const struct exchange_id *only)
{
	struct figures *f = core_attached(c);

	if (f)
		exchange_table_keep_only(&f->exchanges, only);
}

void figures_tell_exchanges(struct core *c,
	void (*divided)(void *arg, const struct divided_exchange *d),
	void (*resent)(void *arg, const struct fact_resent *f), void *arg)
{
	struct figures *f = core_attached(c);

	if (!f)
		return;
	f->exchanges.divided = divided;
	f->exchanges.divided_arg = arg;
	f->memory.resent = resent;
	f->memory.resent_arg = arg;
}

const struct figures *figures_of(const struct core *c)
{
	static const struct figures none;

	return core_attached(c) ? core_attached(c) : &none;
}
