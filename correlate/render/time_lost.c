/* SPDX-License-Identifier: MIT */
/* Time lost, by section of the report: its text has the sections in this order. */
#include <math.h>

#include "report.h"
#include "reported/getters.h"

struct time_lost report_time_lost(const struct report *r)
{
	struct scheduler_figures scheduler = scheduler_figures_of(r);
	struct time_lost lost = {NAN, NAN, NAN};
	double calls = 0, messages = r->sums.message_wait;

	for (size_t i = 0; i < r->call_count; i++)
		calls += (double)r->calls[i]->overhead.sum +
			 (double)r->calls[i]->overhead_blocked.sum;
	if (calls > 0)
		lost.calls = report_ns(r, calls);
	if (messages > 0)
		lost.messages = report_ns(r, messages);
	if (scheduler.s->run_queue.n && known_scheduler_shown(&scheduler))
		lost.run_queue = value_of(get_scheduler_run_queue_total_ns(&scheduler));
	return lost;
}
