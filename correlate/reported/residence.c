/* SPDX-License-Identifier: MIT */
#include "reported/residence.h"

#include <math.h>

#include "event_table.h"
#include "reported/getters.h"
#include "reported/steal.h"

struct flow_figures flow_figures_of(const struct report *r, const struct fact_flow *f)
{
	struct flow_figures to = {.r = r, .f = f, .coverage = flow_coverage(f)};

	to.withheld = flow_withheld(r, f);
	to.shown = measures(f)->residence.n && standing_of(to.coverage) != WITHHELD;
	to.has_probes = flow_probes(r, f, &to.probes);
	return to;
}

static struct value ns(const struct flow_figures *f, double cycles)
{
	return value_number(report_ns(f->r, cycles));
}

static struct value quantile(const struct flow_figures *f, const struct dist *d, double q)
{
	struct spread_figures s = spread_of(d, true, f->r->hz);

	return value_number(spread_quantile(&s, q));
}

/* ---- stages ---- */

bool next_residence_residence(const struct flow_figures *f, uintptr_t *at, struct stage_figures *to)
{
	uintptr_t all = (uintptr_t)stage_count(f->f);

	while (*at < all && !measures(f->f)->stage[*at].n)
		(*at)++;
	*to = (struct stage_figures){f, (int)*at};
	return (*at)++ < all;
}

static const struct dist *stage_dist(const struct stage_figures *f)
{
	return &measures(f->of->f)->stage[f->stage];
}

/* Returns a quantile of a stage without tracing overhead. */
static struct value stage_without(const struct stage_figures *f, double q)
{
	bool known = q <= 0.5 || dist_quantile_supported(stage_dist(f), q);

	return value_if(known, ns(f->of, stage_quantile(f->of->f, &f->of->probes, f->stage, q)));
}

/* clang-format off */
KNOWN(stage, shown, !f->of->withheld)
KNOWN(stage, compensated, !f->of->withheld && f->of->has_probes)
KNOWN(stage, steal, !f->of->withheld && !isnan(report_steal_share(f->of->r)))
GET(stage, tail_may_be_steal, value_flag(stage_tail_may_be_steal(f->of->r, f->of->f, f->stage)))
GET(stage, stage, value_text(stage_name(f->of->f, f->stage)))
GET(stage, n, value_count(stage_dist(f)->n))
GET(stage, bytes, value_count(stage_dist(f)->weight))
GET(stage, mean_ns, ns(f->of, dist_mean(stage_dist(f))))
GET(stage, p50_ns, quantile(f->of, stage_dist(f), 0.5))
GET(stage, p99_ns, quantile(f->of, stage_dist(f), 0.99))
GET(stage, highest, value_number(dist_highest(stage_dist(f))))
GET(stage, at_highest_ns, ns(f->of, dist_at_highest(stage_dist(f))))
GET(stage, compensated_mean_ns, ns(f->of, stage_mean(f->of->f, &f->of->probes, f->stage)))
GET(stage, compensated_p50_ns, stage_without(f, 0.5))
GET(stage, compensated_p99_ns, stage_without(f, 0.99))
GET(stage, compensated_at_highest_ns, ns(f->of, fmax(dist_at_highest(stage_dist(f)) - f->of->probes.each[f->stage], 0)))
/* clang-format on */

/* ---- why bytes waited in the send buffer ---- */

bool next_residence_send_buffer_why(
	const struct flow_figures *f, uintptr_t *at, struct why_figures *to)
{
	if (*at >= measures(f->f)->why->rows)
		return false;
	*to = (struct why_figures){f, &measures(f->f)->why->row[(*at)++]};
	return true;
}

static const struct dist *send_buffer(const struct flow_figures *f)
{
	return &measures(f->f)->stage[TX_STAGE_SNDBUF];
}

static double of_all_bytes(const struct flow_figures *f, uint64_t bytes)
{
	return (double)bytes / (double)send_buffer(f)->weight;
}

static double of_the_wait(const struct flow_figures *f, unsigned __int128 wait)
{
	return send_buffer(f)->sum ? (double)wait / (double)send_buffer(f)->sum : NAN;
}

/* clang-format off */
KNOWN(why, shown, !f->of->withheld)
KNOWN(why, compensated, !f->of->withheld && f->of->has_probes)
GET(why, reason, value_text(why_reason_name(f->row->reason)))
GET(why, released_by, value_text(why_release_name(f->row->release)))
GET(why, n, value_count(f->row->n))
GET(why, bytes, value_count(f->row->bytes))
GET(why, share, value_number(of_all_bytes(f->of, f->row->bytes)))
GET(why, wait_share, value_number(of_the_wait(f->of, f->row->wait)))
GET(why, mean_ns, ns(f->of, (double)f->row->wait / (double)f->row->bytes))
GET(why, compensated_mean_ns, ns(f->of, why_mean(&f->of->probes, f->row)))
/* clang-format on */

bool next_residence_send_buffer_held(
	const struct flow_figures *f, uintptr_t *at, struct held_figures *to)
{
	const struct why_sums *s = measures(f->f)->why;

	while (*at < WHYS && !s->bytes[*at] && !s->cycles[*at])
		(*at)++;
	*to = (struct held_figures){f, (int)*at};
	return (*at)++ < WHYS;
}

static const struct why_sums *why_of(const struct held_figures *f)
{
	return measures(f->of->f)->why;
}

/* Returns the mean without tracing overhead, which is taken off all reasons together. */
static double held_mean(const struct held_figures *f)
{
	double mean[WHYS];

	held_means(f->of->f, &f->of->probes, mean);
	return mean[f->reason];
}

/* clang-format off */
KNOWN(held, shown, !f->of->withheld)
KNOWN(held, compensated, !f->of->withheld && f->of->has_probes)
GET(held, reason, value_text(why_reason_name((unsigned int)f->reason)))
GET(held, bytes, value_count(why_of(f)->bytes[f->reason]))
GET(held, share, value_number(of_all_bytes(f->of, why_of(f)->bytes[f->reason])))
GET(held, wait_share, value_number(of_the_wait(f->of, why_of(f)->wait[f->reason])))
GET(held, mean_ns, ns(f->of, (double)why_of(f)->wait[f->reason] / (double)send_buffer(f->of)->weight))
GET(held, compensated_mean_ns, ns(f->of, held_mean(f)))
GET(held, held_ns, ns(f->of, (double)why_of(f)->cycles[f->reason]))
/* clang-format on */

/* ---- bytes about a quantile ---- */

bool next_residence_waterfalls(
	const struct flow_figures *f, uintptr_t *at, struct waterfall_figures *to)
{
	static const double quantiles[] = {0.5, 0.9, 0.99, 0.999};

	while (*at < sizeof(quantiles) / sizeof(quantiles[0])) {
		double q = quantiles[(*at)++];

		if (f->withheld || !dist_quantile_supported(&measures(f->f)->residence, q))
			continue;
		to->of = f;
		to->quantile = q;
		to->n = waterfall_at(&measures(f->f)->waterfall, q, to->bar, &to->total);
		if (to->n > 0)
			return true;
	}
	return false;
}

bool next_waterfall_stages(
	const struct waterfall_figures *f, uintptr_t *at, struct waterfall_stage_figures *to)
{
	const struct fact_flow *flow = f->of->f;
	uintptr_t all = (uintptr_t)stage_count(flow);

	while (*at < all && !measures(flow)->stage[*at].n)
		(*at)++;
	*to = (struct waterfall_stage_figures){f, (int)*at};
	return (*at)++ < all;
}

/* clang-format off */
GET(waterfall, quantile, value_number(f->quantile))
GET(waterfall, n, value_number(f->n))
GET(waterfall, total_ns, ns(f->of, f->total))
GET(waterfall_stage, stage, value_text(stage_name(f->of->of->f, f->stage)))
GET(waterfall_stage, mean_ns, ns(f->of->of, f->of->bar[f->stage]))
/* clang-format on */

/* ---- all stages ---- */

bool into_residence_residence_last_byte(const struct flow_figures *f, struct spread_figures *to)
{
	*to = spread_of(&measures(f->f)->last_byte, true, f->r->hz);
	return to->d->n && standing_of(f->coverage) != WITHHELD;
}

static const char *flow_standing(const struct flow_figures *f)
{
	return standing_name(f->withheld ? WITHHELD : standing_of(f->coverage));
}

/* clang-format off */
GET(last_byte, n, value_count(f->d->n))
GET(last_byte, mean_ns, value_number(spread_mean(f)))
GET(last_byte, p50_ns, value_number(spread_quantile(f, 0.5)))
GET(last_byte, p99_ns, value_number(spread_quantile(f, 0.99)))
GET(last_byte, highest, value_number(dist_highest(f->d)))
GET(last_byte, at_highest_ns, value_number(spread_ns(f, dist_at_highest(f->d))))

KNOWN(residence, followable, f->withheld || !isnan(f->coverage))
KNOWN(residence, total, f->shown)
KNOWN(residence, probes, f->has_probes && f->shown && !f->withheld)
KNOWN(residence, uncertain, f->has_probes && f->shown)
KNOWN(residence, why, !f->f->flow.rx && measures(f->f)->why && measures(f->f)->why->rows && standing_of(f->coverage) != WITHHELD)
KNOWN(residence, driver, !f->f->flow.rx && core_has_observed(f->r->core, MG_EVENT_dev_done))
KNOWN(residence, any, measures(f->f)->residence.n)
GET(residence, standing, value_text(flow_standing(f)))
GET(residence, withheld, value_text(f->withheld))
GET(residence, residence_total_ns, ns(f, dist_mean(&measures(f->f)->residence)))
GET(residence, residence_total_p50_ns, quantile(f, &measures(f->f)->residence, 0.5))
GET(residence, residence_total_p99_ns, quantile(f, &measures(f->f)->residence, 0.99))
GET(residence, residence_total_highest, value_number(dist_highest(&measures(f->f)->residence)))
GET(residence, residence_total_at_highest_ns, ns(f, dist_at_highest(&measures(f->f)->residence)))
GET(residence, send_buffer_lost_share, value_number(flow_lost_share(f->f)))
GET(residence, residence_uncertainty_ns, ns(f, f->probes.twice_u))
GET(residence, probes_ns, ns(f, f->probes.sum))
/* clang-format on */

/* ---- bytes that cannot be followed as usual ---- */

void part_lineage_lineage_tcp(const struct flow_figures *f, struct flow_figures *to)
{
	*to = *f;
}

void part_lineage_tcp_lineage_sent(const struct flow_figures *f, struct flow_figures *to)
{
	*to = *f;
}

void part_lineage_tcp_lineage_received(const struct flow_figures *f, struct flow_figures *to)
{
	*to = *f;
}

bool into_lineage_tcp_ambiguous_wait_ns(const struct flow_figures *f, struct spread_figures *to)
{
	const struct resent_sums *times = measures(f->f)->resent;

	*to = spread_of(times ? &times->left_out : NULL, true, f->r->hz);
	return true;
}

bool into_lineage_sent_resent_wait_ns(const struct flow_figures *f, struct spread_figures *to)
{
	const struct resent_sums *times = measures(f->f)->resent;

	*to = spread_of(times ? &times->wait : NULL, true, f->r->hz);
	return true;
}

bool into_lineage_sent_retry_gap_ns(const struct flow_figures *f, struct spread_figures *to)
{
	*to = spread_of(&measures(f->f)->retry, true, f->r->hz);
	return true;
}

/* clang-format off */
KNOWN(lineage, tcp, f->f->kind == MG_KIND_tcp)
GET(lineage, unmapped, value_text(flow_ulp(f->f)))

KNOWN(lineage_tcp, claimed, !f->f->unclaimed)
KNOWN(lineage_tcp, sent, !f->f->flow.rx)
KNOWN(lineage_tcp, received, f->f->flow.rx)

KNOWN(lineage_sent, synacks, losses_know_synacks(f->r))
KNOWN(lineage_sent, retransmits, f->f->kind == MG_KIND_tcp && core_has_observed(f->r->core, MG_EVENT_tcp_retransmit))
KNOWN(lineage_sent, resends, flow_resends_known(f->r, f->f))
KNOWN(lineage_sent, unsent, f->f->never_sent_known)
KNOWN(lineage_sent, claimed, !f->f->unclaimed)
GET(lineage_sent, resent_bytes, value_if(!report_has_window(f->r), value_count(flow_resent(f->f))))

KNOWN(lineage_received, whole, !f->f->gaps)
KNOWN(lineage_received, peer, f->f->peer_sock)
/* clang-format on */
