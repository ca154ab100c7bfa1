/* SPDX-License-Identifier: MIT */
#include "live/scope.h"

#include <math.h>
#include <string.h>

void scope_watch(struct scope *s, uint64_t sock)
{
	if (s->sock == sock)
		return;
	s->sock = sock;
	for (int i = 0; i < SCOPE_KINDS; i++)
		s->of[i].n = 0;
}

static void add(struct scope *s, enum scope_kind kind, uint64_t ns, double value, bool received)
{
	s->of[kind].point[s->of[kind].n++ % SCOPE_POINTS] =
		(struct scope_point){ns, value, received};
}

void scope_add_call(struct scope *s, struct core *c, const struct fact_call *f)
{
	if (f->flow.sock == s->sock && s->sock && f->bytes && f->bytes != FACT_NONE)
		add(s, SCOPE_SIZE, core_ns(c, f->begin), (double)f->bytes, f->flow.rx);
}

void scope_add_range(struct scope *s, struct core *c, const struct fact_range *f)
{
	double hz = core_hz(c);

	if (f->flow.sock == s->sock && s->sock && f->outcome == OUTCOME_FOLLOWED && hz > 0 &&
		f->total != FACT_NONE)
		add(s, SCOPE_DELAY, core_ns(c, f->begin), (double)f->total * 1e9 / hz, f->flow.rx);
}

void scope_add_timed_send(struct scope *s, struct core *c, const struct fact_timed_send *f)
{
	uint64_t wait = f->stage[TIMED_SEND_BUFFER], queue = f->stage[TIMED_QUEUE];
	double hz = core_hz(c);

	if (f->flow.sock == s->sock && s->sock && hz > 0 && wait != FACT_NONE && queue != FACT_NONE)
		add(s, SCOPE_DELAY, core_ns(c, f->begin), (double)(wait + queue) * 1e9 / hz, false);
}

double scope_columns(const struct scope *s, enum scope_kind kind, uint64_t from_ns, uint64_t to_ns,
	struct scope_column *column, uint32_t columns)
{
	uint64_t n = s->of[kind].n, first = n > SCOPE_POINTS ? n - SCOPE_POINTS : 0;
	double largest = 0;

	for (uint32_t i = 0; i < columns; i++)
		column[i] = (struct scope_column){{NAN, NAN}};
	for (uint64_t i = first; i < n && to_ns > from_ns; i++) {
		const struct scope_point *p = &s->of[kind].point[i % SCOPE_POINTS];
		double place = ((double)p->ns - (double)from_ns) / (double)(to_ns - from_ns);
		double *most;

		if (p->ns < from_ns || p->ns >= to_ns)
			continue;
		most = &column[(uint32_t)(place * columns)].most[p->received];
		*most = isnan(*most) || p->value > *most ? p->value : *most;
		largest = p->value > largest ? p->value : largest;
	}
	return largest;
}
