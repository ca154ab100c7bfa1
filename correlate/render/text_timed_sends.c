/* SPDX-License-Identifier: MIT */
/* Prints where the last byte of each send waited, by the kernel's timestamps. */
#include "reported/timed_sends.h"
#include "event_table.h"
#include "reported/getters.h"
#include "text.h"

/* Prints a count of sends, if there are any. */
static void some(FILE *to, uint64_t n, const char *what)
{
	if (n)
		fprintf(to, "; %s %s", text_count(n), what);
}

/* Prints what became of the sends of which not all times are known. */
static void left_out(const struct timed_sends_figures *of, FILE *to)
{
	const uint64_t *n = of->sums->n;

	some(to, n[TIMED_MERGED], "have no timestamps, as a later send has those of their segment");
	some(to, n[TIMED_ACKNOWLEDGED_LATER], "were acknowledged together with a later one");
	some(to, n[TIMED_LEFT], "had left before the call ended");
	some(to, n[TIMED_UNFINISHED], "without an acknowledgement");
	some(to, n[TIMED_LOST], "of which events may be missing");
	some(to, of->sums->queued_again,
		"queued again, as they were retransmitted or pass several devices");
}

/* Returns whether a row says more than the one before. */
static bool is_worth_it(const struct timed_sends_figures *of, const struct timed_stage_figures *one)
{
	return one->spread.d != &of->sums->at_most || one->spread.d->n != of->sums->total.n;
}

void text_timed_sends(const struct report *r, const struct fact_flow *f, FILE *to)
{
	struct timed_sends_figures of;
	struct timed_stage_figures one;
	struct table t;
	uintptr_t at = 0;

	if (!timed_sends_figures_of(r, f, &of))
		return;
	table_begin(&t, "lrrrrr");
	table_row(&t, "by the kernel's timestamps\tsends\tmean\tp50\tp99\tmax");
	while (next_timed_sends_stages_ns(&of, &at, &one)) {
		if (!is_worth_it(&of, &one))
			continue;
		table_row(&t, "%s\t%s\t%s\t%s\t%s\t%s", one.label,
			text_value(get_timed_stage_n(&one), IN_CALLS),
			text_value(get_spread_mean(&one.spread), IN_NS),
			text_value(get_spread_p50(&one.spread), IN_NS),
			one.spread.d->n ? text_spread_high(&one.spread) : "n/a",
			text_value(get_longest_max(&one.spread), IN_NS));
	}
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
