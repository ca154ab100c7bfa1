/* SPDX-License-Identifier: MIT */
/* Prints the scheduler's figures. */
#include <math.h>

#include "event_table.h"
#include "text.h"

static const char *const kinds[] = {"task to task", "to idle", "from idle"};

static const char *ns(const struct dist *d, double q, double unit)
{
	bool known = d->n && (q <= 0.5 || dist_quantile_supported(d, q));

	return or_na(known, text_ns(dist_quantile(d, q) * unit));
}

static void switches(const struct report *r, FILE *to, bool colour)
{
	const struct sched_stats *s = &figures_of(r->core)->sched;
	const char *why = report_no_switch_cost(r);
	struct table t;

	if (why) {
		fprintf(to, "  how long a switch takes: n/a, %s\n", why);
		return;
	}
	table_begin(&t, "llrrrrrr");
	table_row(&t, "  switch\tCPU\tn\tmean\tp50\tp99\tto decide\tto reload");
	for (int cpu = 0; cpu < s->cpus; cpu++)
		for (int k = 0; k < SWITCH_KINDS; k++) {
			const struct switch_stats *one = &s->switches[cpu * SWITCH_KINDS + k];
			const struct dist *d = &one->total_ns;

			if (d->n)
				table_row(&t, "  %s\t%d\t%s\t%s\t%s\t%s\t%s\t%s", kinds[k], cpu,
					text_count(one->n), text_ns(dist_mean(d)), ns(d, 0.5, 1),
					ns(d, 0.99, 1),
					text_ns((double)one->decide_ns / (double)d->n),
					text_ns((double)one->reload_ns / (double)d->n));
		}
	table_fit(&t, text_columns());
	table_print(&t, to, 0, colour);
}

void text_sched(const struct report *r, FILE *to, bool colour)
{
	const struct sched_stats *s = &figures_of(r->core)->sched;
	double unit = report_ns(r, 1), coverage = report_layer_coverage(r, MG_LAYER_SCHED);
	enum standing standing = standing_of(coverage);
	/* a missing wait may have been the longest, or one more */
	const char *least = coverage < 1 ? text_at_least() : "";
	bool told = standing != WITHHELD, moved = s->migrations || coverage >= 1;
	uint64_t all = 0;

	for (int i = 0; i < s->cpus * SWITCH_KINDS; i++)
		all += s->switches[i].n;
	if (!all)
		return;
	fprintf(to,
		"\nScheduler%s   wakeup p50 %s p99 %s max %s%s (%s)   switches %s%s   migrations "
		"%s%s\n",
		star(standing), or_na(told, ns(&s->wakeup, 0.5, unit)),
		or_na(told, ns(&s->wakeup, 0.99, unit)), s->wakeup.n ? least : "",
		or_na(s->wakeup.n, text_ns((double)s->wakeup.max * unit)), text_count(s->wakeup.n),
		least, text_count(all), moved ? least : "",
		or_na(moved, text_count(s->migrations)));
	if (s->queueing.n && told)
		fprintf(to, "  of a wakeup until on a run queue: p50 %s p99 %s\n",
			ns(&s->queueing, 0.5, unit), ns(&s->queueing, 0.99, unit));
	fprintf(to, "  waits for a CPU: p50 %s p99 %s, %s%s in all (%s)\n",
		or_na(told, ns(&s->run_queue, 0.5, unit)),
		or_na(told, ns(&s->run_queue, 0.99, unit)), told ? least : "",
		or_na(told, text_ns((double)s->run_queue.sum * unit)), text_count(s->run_queue.n));
	if (standing != WHOLE)
		fprintf(to, "  %s: in %s of the time nothing of the scheduler is missing\n",
			told ? "with a star" : "withheld", text_coverage(coverage));
	if (told)
		switches(r, to, colour);
}
