/* SPDX-License-Identifier: MIT */
/* The scheduler's figures in JSON. */
#include <math.h>

#include "event_table.h"
#include "report.h"

static json_t *number(double v)
{
	return isnan(v) ? json_null() : json_real(v);
}

/*
 * Returns a quantile in units of `unit` ns; above the median only with ten samples beyond it, else
 * null.
 */
static json_t *quantile(const struct dist *d, double q, double unit)
{
	bool known = d->n && (q <= 0.5 || dist_quantile_supported(d, q));

	return number(known ? dist_quantile(d, q) * unit : NAN);
}

/* Returns waiting times; if something is missing, the maximum is a lower bound. */
static json_t *waits(const struct report *r, const struct dist *all, double coverage)
{
	static const struct dist nothing;
	const struct dist *d = standing_of(coverage) == WITHHELD ? &nothing : all;
	double unit = report_ns(r, 1);

	return json_pack("{s:o, s:o, s:o, s:o, s:b, s:I}", "p50", quantile(d, 0.5, unit), "p99",
		quantile(d, 0.99, unit), "mean", number(d->n ? dist_mean(d) * unit : NAN), "max",
		number(all->n ? (double)all->max * unit : NAN), "max_at_least", coverage < 1, "n",
		(json_int_t)all->n);
}

static json_t *one_kind(
	const struct report *r, int cpu, const char *kind, const struct switch_stats *s)
{
	static const struct dist nothing;
	double coverage = report_time_coverage(r, MG_LAYER_SWITCH, cpu);
	const struct dist *d = standing_of(coverage) == WITHHELD ? &nothing : &s->total_ns;
	double n = (double)d->n;

	return json_pack("{s:i, s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:I}", "cpu", cpu,
		"kind", kind, "coverage", number(coverage), "n", (json_int_t)s->n, "mean_ns",
		number(d->n ? dist_mean(d) : NAN), "p50_ns", quantile(d, 0.5, 1), "p99_ns",
		quantile(d, 0.99, 1), "decide_mean_ns",
		number(d->n ? (double)s->decide_ns / n : NAN), "reload_mean_ns",
		number(d->n ? (double)s->reload_ns / n : NAN), "measured", (json_int_t)d->n,
		"interrupted", (json_int_t)s->interrupted);
}

json_t *json_scheduler(const struct report *r)
{
	static const char *const kinds[] = {"task_to_task", "to_idle", "from_idle"};
	const struct sched_stats *s = &figures_of(r->core)->sched;
	bool watched = r->core->kernel_events && core_observes(r->core, MG_EVENT_sched_switch);
	double coverage = report_layer_coverage(r, MG_LAYER_SCHED);
	bool told = watched && standing_of(coverage) != WITHHELD;
	const char *why = report_no_switch_cost(r);
	json_t *switches = json_array(), *j;

	for (int cpu = 0; cpu < s->cpus; cpu++)
		for (int k = 0; k < SWITCH_KINDS; k++)
			if (s->switches[cpu * SWITCH_KINDS + k].n)
				json_array_append_new(
					switches, one_kind(r, cpu, kinds[k],
							  &s->switches[cpu * SWITCH_KINDS + k]));
	j = json_pack("{s:o, s:s?, s:o}", "switches", switches, "no_durations", why, "wakeup_ns",
		waits(r, &s->wakeup, coverage));
	json_object_set_new(j, "queueing_ns", waits(r, &s->queueing, coverage));
	json_object_set_new(j, "run_queue_ns", waits(r, &s->run_queue, coverage));
	json_object_set_new(j, "run_queue_total_ns",
		number(told ? report_ns(r, (double)s->run_queue.sum) : NAN));
	json_object_set_new(j, "migrations",
		watched && (s->migrations || coverage >= 1)
			? json_integer((json_int_t)s->migrations)
			: json_null());
	json_object_set_new(j, "coverage", number(watched ? coverage : NAN));
	json_object_set_new(j, "standing",
		watched ? json_string(standing_name(standing_of(coverage))) : json_null());
	json_object_set_new(j, "at_least", json_boolean(coverage < 1));
	return j;
}
