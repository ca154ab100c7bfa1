/* SPDX-License-Identifier: MIT */
/* How much the stack moves the bytes (docs/method.md, "Modulation"). */
#include <math.h>

#include "report.h"

/* Returns the mean gap between the calls that moved the sender's bytes; NAN below two calls. */
static double tau_ns(const struct report *r, const struct fact_flow *tx)
{
	return tx->calls > 1 ? report_ns(r, (double)(tx->last_call - tx->first_call) /
						    (double)(tx->calls - 1))
			     : NAN;
}

static double ratio(double a, double b)
{
	return b > 0 ? a / b : NAN;
}

/*
 * Computes J = mean |D - median D| over the bytes complete at both layers, and M = J / tau
 * (docs/method.md, "Modulation"). Sent: from the program's call to the driver. Received: from the
 * peer's call to the return of ours, where the peer is traced too.
 */
struct modulation flow_modulation(const struct report *r, const struct fact_flow *f)
{
	struct modulation m = {.j_ns = NAN,
		.tau_ns = NAN,
		.m = NAN,
		.s = NAN,
		.blocked_share = NAN,
		.w1_spacing_ns = NAN};
	/* several sockets may send to one, and one to several */
	bool by_message = f->flow.rx && f->kind != MG_KIND_tcp;
	struct fact_flow peer;
	const struct fact_flow *sender = !f->flow.rx ? f : flow_peer(r, f, &peer) ? &peer : NULL;
	const struct flow_measures *own = measures(f);
	const struct dist *shift = &own->shift;
	const struct unit_stats *from, *to;

	m.from = f->flow.rx ? "peer_call" : "call";
	m.to = f->flow.rx ? "call" : "device";
	if (f->ulp || (!sender && !by_message) || (by_message && !own->from) || !shift->n ||
		standing_of(flow_coverage(f)) == WITHHELD)
		return m;
	from = by_message ? own->from : &measures(sender)->units[TX_CALL];
	to = &own->units[f->flow.rx ? (int)RX_CALL : (int)TX_XMIT];
	m.known = true;
	m.bytes = shift->weight;
	m.j_ns = report_ns(r, dist_mean_abs_dev(shift));
	m.tau_ns = !by_message   ? tau_ns(r, sender)
		   : from->n > 1 ? report_ns(r, unit_mean_gap(from))
				 : NAN;
	m.m = ratio(m.j_ns, m.tau_ns);
	m.s = ratio((double)to->n, (double)from->n);
	/* share of the time of the threads that send */
	if (sender && core_has_observed(r->core, MG_EVENT_sched_switch))
		m.blocked_share = ratio((double)sender->blocked,
			(double)(sender->last - sender->first) * sender->threads);
	if (from->gaps.n && to->gaps.n)
		m.w1_spacing_ns = report_ns(r, dist_w1(&from->gaps, &to->gaps));
	return m;
}
