/* SPDX-License-Identifier: MIT */
#include "reported/call.h"

#include "event_table.h"
#include "reported/getters.h"

struct call_figures call_figures_of(const struct report *r, const struct call_stats *s)
{
	struct call_figures f = {.r = r, .s = s, .coverage = call_coverage(r, s)};

	/* without scheduler events, waits are hidden in the other states */
	f.shown = s->complete && !call_is_kernel_only(s) && standing_of(f.coverage) != WITHHELD &&
		  core_has_observed(r->core, MG_EVENT_sched_switch);
	f.calibrated = f.shown && !isnan(call_uncertainty(r, s, false));
	return f;
}

/* Returns the mean of a sum over the complete calls, ns. */
static struct value mean_of(const struct call_figures *f, unsigned __int128 cycles)
{
	return value_number(report_ns(f->r, (double)cycles / (double)f->s->complete));
}

/* clang-format off */
#define COUNT(name, n)        GET(call, name, value_count(f->s->name))
#define MEAN(name, key, span) GET(call, key, mean_of(f, f->s->name))
MG_CALL_SUMS(COUNT, COUNT, MEAN)
/* clang-format on */

bool known_call_shown(const struct call_figures *f)
{
	return f->shown;
}

bool known_call_blocking(const struct call_figures *f)
{
	return call_blocking_known(f->r, f->s);
}

bool known_call_calibrated(const struct call_figures *f)
{
	return f->calibrated;
}

bool known_call_waked(const struct call_figures *f)
{
	return f->calibrated && f->s->blocked_n;
}

struct value get_call_name(const struct call_figures *f)
{
	return value_text(call_name(f->s));
}

struct value get_call_flow_kind(const struct call_figures *f)
{
	return value_text(mg_kind_name(f->s->key.kind));
}

struct value get_call_kernel_only(const struct call_figures *f)
{
	return value_flag(call_is_kernel_only(f->s));
}

struct value get_call_coverage(const struct call_figures *f)
{
	return value_number(f->coverage);
}

struct value get_call_standing(const struct call_figures *f)
{
	return value_text(isnan(f->coverage) ? NULL : standing_name(standing_of(f->coverage)));
}

bool into_call_total_ns(const struct call_figures *f, struct spread_figures *to)
{
	bool known =
		call_is_kernel_only(f->s) || standing_of(report_app_coverage(f->r)) != WITHHELD;

	*to = spread_of(&f->s->total, known, f->r->hz);
	return true;
}

bool next_call_total_histogram(
	const struct call_figures *f, uintptr_t *at, struct time_bin_figures *to)
{
	struct spread_figures total;

	into_call_total_ns(f, &total);
	return time_bin_next(f->r, total.d, at, to);
}

static void overhead(const struct call_figures *f, bool blocked, struct overhead_figures *to)
{
	const struct dist *d = blocked ? &f->s->overhead_blocked : &f->s->overhead;

	to->spread = spread_of(d, f->shown, f->r->hz);
	to->n = d->n;
	to->bound = f->shown && d->n ? call_uncertainty(f->r, f->s, blocked) : NAN;
}

bool into_call_overhead_ns(const struct call_figures *f, struct overhead_figures *to)
{
	overhead(f, false, to);
	return true;
}

bool into_call_overhead_blocking_ns(const struct call_figures *f, struct overhead_figures *to)
{
	overhead(f, true, to);
	return true;
}

void part_overhead_spread(const struct overhead_figures *f, struct spread_figures *to)
{
	*to = f->spread;
}

void part_overhead_longest(const struct overhead_figures *f, struct spread_figures *to)
{
	*to = f->spread;
}

bool known_overhead_bounded(const struct overhead_figures *f)
{
	return !isnan(f->bound);
}

struct value get_overhead_uncertainty(const struct overhead_figures *f)
{
	return value_number(spread_ns(&f->spread, f->bound));
}

struct value get_overhead_below_uncertainty(const struct overhead_figures *f)
{
	return value_flag(dist_quantile(f->spread.d, 0.5) < f->bound);
}

struct value get_overhead_n(const struct overhead_figures *f)
{
	return value_count(f->n);
}

struct value get_call_states_ns(const struct call_figures *f, int state)
{
	return call_state_known(f->r, (enum call_state)state) ? mean_of(f, f->s->state[state])
							      : value_unknown();
}

struct value get_call_probes_ns(const struct call_figures *f)
{
	return mean_of(f, f->s->probe_cycles);
}

bool into_call_interposition_ns(const struct call_figures *f, struct call_figures *to)
{
	*to = *f;
	return true;
}

bool known_interposition_calibrated(const struct call_figures *f)
{
	return f->calibrated;
}

bool known_interposition_logged(const struct call_figures *f)
{
	return !call_is_kernel_only(f->s) && figures_of(f->r->core)->calls.logged.n;
}

struct value get_interposition_inside(const struct call_figures *f)
{
	return mean_of(f, f->s->reading_cycles);
}

struct value get_interposition_after(const struct call_figures *f)
{
	return value_number(report_ns(f->r, dist_mean(&figures_of(f->r->core)->calls.logged)));
}

struct value get_call_waker_probes_ns(const struct call_figures *f)
{
	double events = (double)f->s->waker_events / (double)f->s->blocked_n;

	return value_number(report_ns(f->r, events * f->r->recording.event_cycles));
}
