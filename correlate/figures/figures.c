/* SPDX-License-Identifier: MIT */
#include "figures/figures.h"

#include <stdlib.h>

#include "alloc.h"

static void finish(void *arg)
{
	struct figures *f = arg;

	call_table_finish(&f->calls);
}

static void free_all(void *arg)
{
	struct figures *f = arg;

	call_table_free(&f->calls);
	sched_free(&f->sched);
	drops_free(&f->drops);
	free(f);
}

void figures_attach(struct core *c)
{
	struct figures *f = mg_calloc(1, sizeof(*f));

	if (!f)
		return;
	call_table_listen(&f->calls, c);
	sched_listen(&f->sched, c);
	drops_listen(&f->drops, c);
	core_attach(c, f, finish, free_all);
}

const struct figures *figures_of(const struct core *c)
{
	static const struct figures none;

	return c->attached.what ? c->attached.what : &none;
}
