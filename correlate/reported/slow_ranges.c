/* SPDX-License-Identifier: MIT */
#include "reported/slow_ranges.h"

#include "reported/getters.h"

bool next_whole_slowest_ranges(
	const struct report_figures *f, uintptr_t *at, struct slow_range_figures *to)
{
	if (*at >= f->r->slow_range_count)
		return false;
	to->r = f->r;
	to->s = &f->r->slow_ranges[(*at)++];
	core_keep_flow(f->r->core, to->s->sock, to->s->rx, &to->f);
	flow_name(to->flow, to->s->sock, to->s->rx);
	return true;
}

bool next_slow_range_stages(
	const struct slow_range_figures *f, uintptr_t *at, struct slow_stage_figures *to)
{
	uintptr_t all = (uintptr_t)stage_count(&f->f);

	while (*at < all && f->s->stage[*at] == FACT_NONE)
		(*at)++;
	*to = (struct slow_stage_figures){f, (int)*at};
	return (*at)++ < all;
}

static const char *why_of(const struct slow_range *s)
{
	return s->why != FACT_NO_WORD ? why_reason_name(s->why) : NULL;
}

/* clang-format off */
GET(slow_range, flow, value_text(f->flow))
GET(slow_range, offset, value_count(f->s->offset))
GET(slow_range, length, value_count(f->s->length))
GET(slow_range, time_ns, value_count(core_ns(f->r->core, f->s->begin)))
GET(slow_range, total_ns, value_number(report_ns(f->r, (double)f->s->total)))
GET(slow_range, why, value_text(why_of(f->s)))
GET(slow_stage, stage, value_text(stage_name(&f->of->f, f->stage)))
GET(slow_stage, ns, value_number(report_ns(f->of->r, (double)f->of->s->stage[f->stage])))
/* clang-format on */
