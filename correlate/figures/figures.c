/* SPDX-License-Identifier: MIT */
#include "figures/figures.h"

#include <stdlib.h>

#include "alloc.h"
#include "figures/bound.h"
#include "figures/measures_pack.h"

static void finish(void *what)
{
	struct figures *f = what;

	call_table_finish(&f->calls);
	exchange_table_finish(&f->exchanges);
}

static void free_all(void *what)
{
	struct figures *f = what;

	call_table_free(&f->calls);
	sched_free(&f->sched);
	drops_free(&f->drops);
	exchange_table_free(&f->exchanges);
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
	exchange_table_listen(&f->exchanges, c);
	core_attach(c, f, &client);
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

	if (f)
		exchange_table_keep(&f->exchanges, n);
}

const struct figures *figures_of(const struct core *c)
{
	static const struct figures none;

	return core_attached(c) ? core_attached(c) : &none;
}
