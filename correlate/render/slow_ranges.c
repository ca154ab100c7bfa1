/* SPDX-License-Identifier: MIT */
/* Finds the slowest byte ranges of all flows that a report shows. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "report.h"

int report_take_slow_ranges(struct report *r)
{
	size_t wanted = figures_of(r->core)->memory.slowest;

	for (size_t i = 0; wanted && i < r->flow_count; i++) {
		const struct slow_ranges *s = measures(report_flow(r, i))->slow;
		struct slow_range *more;

		if (!s || !s->n)
			continue;
		more = mg_realloc(r->slow_ranges, (r->slow_range_count + s->n) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		r->slow_ranges = more;
		memcpy(more + r->slow_range_count, s->of, s->n * sizeof(*more));
		r->slow_range_count += s->n;
	}
	if (r->slow_range_count)
		qsort(r->slow_ranges, r->slow_range_count, sizeof(*r->slow_ranges),
			slow_range_order);
	if (r->slow_range_count > wanted)
		r->slow_range_count = wanted;
	return 0;
}
