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
}

static void free_all(void *what)
{
	struct figures *f = what;

	call_table_free(&f->calls);
	sched_free(&f->sched);
	drops_free(&f->drops);
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
	core_attach(c, f, &client);
}

void figures_keep_series(struct core *c, size_t bytes)
{
	struct figures *f = c->attached.what;

	if (f)
		f->memory.series.limit = bytes;
}

const struct figures *figures_of(const struct core *c)
{
	static const struct figures none;

	return c->attached.what ? c->attached.what : &none;
}
