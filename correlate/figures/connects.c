/* SPDX-License-Identifier: MIT */
#include "figures/connects.h"

static void on_connect(void *arg, const void *fact)
{
	const struct fact_connect *f = fact;
	struct connect_stats *s = arg;

	s->n++;
	s->failed += f->outcome == CONNECT_FAILED;
	s->open += f->outcome == CONNECT_OPEN;
	if (f->took != FACT_NONE)
		dist_add(&s->took, f->took, 1);
}

void connects_listen(struct connect_stats *s, struct core *c)
{
	facts_listen(core_facts(c), FACT_connect, on_connect, s);
}

void connects_free(struct connect_stats *s)
{
	dist_free(&s->took);
}
