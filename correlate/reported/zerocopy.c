/* SPDX-License-Identifier: MIT */
#include "reported/zerocopy.h"

#include "event_table.h"
#include "reported/getters.h"

struct zerocopy_figures zerocopy_figures_of(const struct report *r, const struct flow *f)
{
	static const struct zerocopy nothing;
	struct zerocopy_figures to = {.r = r, .z = f->zerocopy ? f->zerocopy : &nothing};

	to.ends = r->core->counts.kernel_events && core_observes(r->core, MG_EVENT_zerocopy_done);
	to.misses = flow_misses(f, MG_EVENTS(zerocopy_sent, zerocopy_done));
	to.missed = zerocopy_missed(to.z);
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

KNOWN(zerocopy, sends, f->z->sends || (f->ends && !f->misses))
KNOWN(zerocopy, ends, f->ends && f->z->sends)
KNOWN(zerocopy, all_ends, f->ends && f->z->sends && !f->misses)
GET(zerocopy, zerocopy_sends, value_count(f->z->sends))
GET(zerocopy, zerocopy_copied, value_count(f->z->copied))
GET(zerocopy, zerocopy_pending, value_count(f->z->len - f->missed))
GET(zerocopy, zerocopy_unsure, value_count(f->z->unsure + f->missed))
GET(zerocopy, zerocopy_at_least, value_flag(f->z->sends && f->misses))
/* clang-format on */
