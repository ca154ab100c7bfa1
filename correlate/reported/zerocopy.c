/* SPDX-License-Identifier: MIT */
#include "reported/zerocopy.h"

#include "event_table.h"
#include "reported/getters.h"

struct zerocopy_figures zerocopy_figures_of(const struct report *r, const struct fact_flow *f)
{
	struct zerocopy_figures to = {.r = r, .f = f};

	to.ends = r->recording.kernel_events && core_has_observed(r->core, MG_EVENT_zerocopy_done);
	to.misses = flow_misses(f, MG_EVENTS(zerocopy_sent, zerocopy_done));
	to.hold = measures(f)->zerocopy;
	return to;
}

bool into_zerocopy_zerocopy_hold_ns(const struct zerocopy_figures *f, struct spread_figures *to)
{
	*to = spread_of(f->hold, true, f->r->hz);
	return f->hold && f->r->hz > 0;
}

void part_hold_spread(const struct spread_figures *f, struct spread_figures *to)
{
	*to = *f;
}

/* clang-format off */
GET(hold, n, value_count(f->d->n))
GET(hold, max, value_number(spread_ns(f, (double)f->d->max)))

KNOWN(zerocopy, sends, !report_has_window(f->r) && (f->f->zerocopy_sends || (f->ends && !f->misses)))
KNOWN(zerocopy, ends, f->ends && f->f->zerocopy_sends)
KNOWN(zerocopy, all_ends, f->ends && f->f->zerocopy_sends && !f->misses)
GET(zerocopy, zerocopy_sends, value_count(f->f->zerocopy_sends))
GET(zerocopy, zerocopy_copied, value_count(f->f->zerocopy_copied))
GET(zerocopy, zerocopy_pending, value_count(f->f->zerocopy_pending))
GET(zerocopy, zerocopy_unsure, value_count(f->f->zerocopy_unsure))
GET(zerocopy, zerocopy_at_least, value_flag(f->f->zerocopy_sends && f->misses))
/* clang-format on */
