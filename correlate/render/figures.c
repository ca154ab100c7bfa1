/* SPDX-License-Identifier: MIT */
/* Which figures of flows and calls are known. */
#include <math.h>

#include "event_table.h"
#include "figures/window.h"
#include "report.h"

/* Returns the same of a window, of the bytes whose ranges began in it. */
static double window_coverage(const struct fact_flow *f)
{
	uint64_t of = f->followed + f->incomplete;

	return of ? (double)f->followed / (double)of * (1 - f->missing_share) *
			       (1 - f->missing_time)
		  : NAN;
}

/* Returns the share of the flow's bytes that were seen at every stage. */
double flow_coverage(const struct fact_flow *f)
{
	/* unclaimed bytes cannot be followed */
	uint64_t of = f->unclaimed ? 0 : flow_bytes(f) - f->urgent_unread - f->never_sent;

	if (f->ulp)
		return NAN;
	if (measures(f)->window)
		return window_coverage(f);
	if (f->kind == MG_KIND_tcp)
		return of ? (double)f->followed / (double)of * (1 - f->missing_time) : NAN;
	/* datagrams dropped before the first stage have no timestamps that could be missing */
	of = f->followed + f->incomplete;
	return of && (f->calls || f->missing_bytes)
		       ? (double)f->followed / (double)of * (1 - f->missing_share) *
				 (1 - f->missing_time)
		       : NAN;
}

double flow_lost_share(const struct fact_flow *f)
{
	const struct why_sums *w = measures(f)->why;
	dist_sum wait = measures(f)->stage[TX_STAGE_SNDBUF].sum;

	return w && wait ? (double)w->lost / (double)wait : NAN;
}

uint64_t flow_resent(const struct fact_flow *f)
{
	return f->resent;
}

bool flow_resends_known(const struct report *r, const struct fact_flow *f)
{
	return mg_events_have_all(
		       core_hooked(r->core, f->netns), MG_EVENTS(tcp_retransmit, ip_out)) &&
	       !(f->missing_layers & (1u << MG_LAYER_TCP | 1u << MG_LAYER_IP));
}

bool call_blocking_known(const struct report *r, const struct call_stats *s)
{
	return core_has_observed(r->core, MG_EVENT_sched_switch) && s->complete &&
	       standing_of(call_coverage(r, s)) != WITHHELD;
}

/*
 * Returns the share of calls that blocked, of those with nothing missing: for the others it is
 * unknown.
 */
double call_blocked_share(const struct call_stats *s)
{
	return (double)s->blocked_n / (double)s->complete;
}

double call_uncertainty(const struct report *r, const struct call_stats *s, bool blocked)
{
	if (!s->complete || !r->recording.event_cycles || r->recording.ns_only)
		return NAN;
	return blocked ? s->uncertainty_blocked : s->uncertainty;
}

bool call_state_known(const struct report *r, enum call_state state)
{
	return (state != STATE_LOCK && state != STATE_RELEASE) ||
	       core_knows_lock_state(r->core, state);
}

bool flow_timeouts_known(const struct report *r, const struct fact_flow *f)
{
	return !f->flow.rx && core_has_observed(r->core, MG_EVENT_tcp_retransmit);
}

bool flow_windows_known(const struct report *r, const struct fact_flow *f)
{
	const struct core *c = r->core;

	if (!f->flow.rx)
		return core_has_observed(c, MG_EVENT_tcp_recv);
	return !core_knows_hooks(c) || mg_events_have(core_hooked(c, f->netns), MG_EVENT_ip_out);
}
