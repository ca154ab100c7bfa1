/* SPDX-License-Identifier: MIT */
/* Time for which the kernel held the pages of sends with MSG_ZEROCOPY, as JSON. */
#include "report.h"

static json_t *count_if(bool known, uint64_t n)
{
	return known ? json_integer((json_int_t)n) : json_null();
}

static json_t *hold(const struct report *r, const struct dist *d)
{
	json_t *j;

	if (!d->n || r->hz <= 0)
		return json_null();
	j = json_spread(r, d);
	json_object_set_new(j, "n", json_integer((json_int_t)d->n));
	json_object_set_new(j, "max", json_real(report_ns(r, (double)d->max)));
	return j;
}

void json_zerocopy(json_t *j, const struct report *r, const struct flow *f)
{
	static const struct zerocopy nothing;
	const struct zerocopy *z = f->zerocopy ? f->zerocopy : &nothing;
	bool ends = r->core->kernel_events && core_observes(r->core, MG_EVENT_zerocopy_done);
	bool misses = flow_misses(f, MG_EVENTS(zerocopy_sent, zerocopy_done));
	bool told = ends && z->sends;
	uint64_t missed = zerocopy_missed(z);

	json_object_set_new(j, "zerocopy_sends", count_if(z->sends || (ends && !misses), z->sends));
	json_object_set_new(j, "zerocopy_hold_ns", hold(r, &z->hold));
	json_object_set_new(j, "zerocopy_copied", count_if(told, z->copied));
	json_object_set_new(j, "zerocopy_pending", count_if(told && !misses, z->len - missed));
	json_object_set_new(j, "zerocopy_unsure", count_if(told, z->unsure + missed));
	json_object_set_new(j, "zerocopy_at_least", json_boolean(z->sends && misses));
}
