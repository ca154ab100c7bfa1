/* SPDX-License-Identifier: MIT */
/* Prints where the last byte of each send waited, by the kernel's timestamps. */
#include "reported/timed_sends.h"
#include "event_table.h"
#include "reported/getters.h"
#include "text.h"

/* Prints what the stages leave out, and how many sends came to a queue again. */
static void left_out(const struct timed_sends_figures *of, FILE *to)
{
	const uint64_t *n = of->sums->n;

	if (n[TIMED_MERGED])
		fprintf(to, "; %s left in one segment with a later send",
			text_count(n[TIMED_MERGED]));
	if (n[TIMED_UNFINISHED])
		fprintf(to, "; %s without an acknowledgement", text_count(n[TIMED_UNFINISHED]));
	if (n[TIMED_LOST])
		fprintf(to, "; %s of which events may be missing", text_count(n[TIMED_LOST]));
	if (of->sums->queued_again)
		fprintf(to, "; %s queued again, as they were retransmitted or pass several devices",
			text_count(of->sums->queued_again));
}

void text_timed_sends(const struct report *r, const struct fact_flow *f, FILE *to)
{
	struct timed_sends_figures of;
	struct timed_stage_figures one;
	struct table t;
	uintptr_t at = 0;

	if (!timed_sends_figures_of(r, f, &of))
		return;
	table_begin(&t, "lrrrr");
	table_row(&t, "by the kernel's timestamps\tmean\tp50\tp99\tmax");
	while (next_timed_sends_stages_ns(&of, &at, &one))
		table_row(&t, "%s\t%s\t%s\t%s\t%s", one.label,
			text_value(get_spread_mean(&one.spread), IN_NS),
			text_value(get_spread_p50(&one.spread), IN_NS),
			one.spread.d->n ? text_spread_high(&one.spread) : "n/a",
			text_value(get_longest_max(&one.spread), IN_NS));
	table_print(&t, to, 2, false);
	fprintf(to, "  the last byte of %s%s send%s", of.misses ? text_at_least() : "",
		text_count(timed_sends_count(&of)), plural(timed_sends_count(&of)));
	left_out(&of, to);
	fprintf(to, "\n");
}

bool text_has_only_timed_sends(const struct report *r, const struct fact_flow *f)
{
	return measures(f)->timed && !core_observes(r->core, MG_EVENT_sys_enter);
}
