/* SPDX-License-Identifier: MIT */
/* System calls in JSON. */
#include <math.h>

#include "event_table.h"
#include "report.h"

static json_t *number(double v)
{
	return isnan(v) || isinf(v) ? json_null() : json_real(v);
}

static json_t *count(uint64_t n)
{
	return json_integer((json_int_t)n);
}

/*
 * Returns the mean and quantiles of a distribution in cycles, null if it is not known; the 99th
 * percentile only with ten samples beyond it.
 */
static json_t *spread(const struct report *r, const struct dist *d, bool known)
{
	bool p99 = known && d->n && dist_quantile_supported(d, 0.99);

	known = known && d->n;
	return json_pack("{s:o, s:o, s:o}", "p50",
		number(known ? report_ns(r, dist_quantile(d, 0.5)) : NAN), "p99",
		number(p99 ? report_ns(r, dist_quantile(d, 0.99)) : NAN), "mean",
		number(known ? report_ns(r, dist_mean(d)) : NAN));
}

static json_t *overhead(const struct report *r, const struct call_stats *s, bool blocked, bool told)
{
	const struct dist *d = blocked ? &s->overhead_blocked : &s->overhead;
	double bound = told && d->n ? call_uncertainty(r, s, blocked) : NAN;
	json_t *j = spread(r, d, told);

	json_object_set_new(j, "uncertainty", number(report_ns(r, bound)));
	json_object_set_new(j, "below_uncertainty",
		!isnan(bound) ? json_boolean(dist_quantile(d, 0.5) < bound) : json_null());
	json_object_set_new(j, "n", count(d->n));
	return j;
}

static json_t *states(const struct report *r, const struct call_stats *s, bool told)
{
#define STATE_NAME(ID, name) name,
	static const char *const names[] = {MG_STATES(STATE_NAME)};
	json_t *j = json_object();

	for (int i = 0; i < STATES; i++)
		json_object_set_new(j, names[i],
			number(told && call_state_known(r, (enum call_state)i)
					? report_ns(r, (double)s->state[i] / (double)s->complete)
					: NAN));
	return j;
}

json_t *json_call(const struct report *r, const struct call_stats *s)
{
	double coverage = call_coverage(r, s), app = report_app_coverage(r);
	/* without scheduler events, waits are hidden in the other states */
	bool told = s->complete && !call_is_kernel_only(s) && standing_of(coverage) != WITHHELD &&
		    core_observes(r->core, MG_EVENT_sched_switch);
	bool calibrated = told && !isnan(call_uncertainty(r, s, false));
	double n = (double)s->complete, blocked = (double)s->blocked_n;
	json_t *j = json_object();

	json_object_set_new(j, "name", json_string(call_name(s)));
	json_object_set_new(j, "flow_kind", json_string(mg_kind_name(s->key.kind)));
	json_object_set_new(j, "kernel_only", json_boolean(call_is_kernel_only(s)));
	json_object_set_new(j, "n", count(s->n));
	json_object_set_new(j, "failed", count(s->failed));
	json_object_set_new(j, "bytes", count(s->bytes));
	json_object_set_new(j, "joined", count(s->joined));
	json_object_set_new(j, "complete", count(s->complete));
	json_object_set_new(j, "coverage", number(coverage));
	json_object_set_new(j, "standing",
		isnan(coverage) ? json_null() : json_string(standing_name(standing_of(coverage))));
	json_object_set_new(
		j, "blocked_n", call_blocking_known(r, s) ? count(s->blocked_n) : json_null());
	json_object_set_new(j, "total_ns",
		spread(r, &s->total, call_is_kernel_only(s) || standing_of(app) != WITHHELD));
	json_object_set_new(j, "overhead_ns", overhead(r, s, false, told));
	json_object_set_new(j, "overhead_blocking_ns", overhead(r, s, true, told));
	json_object_set_new(j, "states_ns", states(r, s, told));
	json_object_set_new(
		j, "locked_out_ns", number(told ? report_ns(r, (double)s->locked_out / n) : NAN));
	json_object_set_new(j, "probes_ns",
		number(calibrated ? report_ns(r, (double)s->probe_cycles / n) : NAN));
	json_object_set_new(j, "interposition_ns",
		json_pack("{s:o, s:o}", "inside",
			number(calibrated ? report_ns(r, (double)s->reading_cycles / n) : NAN),
			"after",
			number(!call_is_kernel_only(s) && figures_of(r->core)->calls.logged.n
					? report_ns(
						  r, dist_mean(&figures_of(r->core)->calls.logged))
					: NAN)));
	json_object_set_new(j, "waker_probes_ns",
		number(calibrated && s->blocked_n
				? report_ns(r, (double)s->waker_events / blocked *
						       r->core->calibration.event_cycles)
				: NAN));
	return j;
}
