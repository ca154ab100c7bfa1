/* SPDX-License-Identifier: MIT */
/* Waiting times of a flow's bytes, and their causes, as JSON. */
#include <math.h>

#include "report.h"

static json_t *number(double v)
{
	return isnan(v) || isinf(v) ? json_null() : json_real(v);
}

static json_t *ns(const struct report *r, double cycles)
{
	return number(report_ns(r, cycles));
}

/* Returns a quantile; above the median only with ten samples beyond it, else null. */
static json_t *quantile(const struct report *r, const struct dist *d, double q)
{
	if (!d->n || (q > 0.5 && !dist_quantile_supported(d, q)))
		return json_null();
	return ns(r, dist_quantile(d, q));
}

static json_t *stage_without(
	const struct report *r, const struct flow *f, const struct probes *p, int stage, double q)
{
	bool known = q <= 0.5 || dist_quantile_supported(&f->stage[stage], q);

	return ns(r, p && known ? stage_quantile(f, p, stage, q) : NAN);
}

static json_t *stages(const struct report *r, const struct flow *f)
{
	json_t *all = json_array();
	bool told = !flow_withheld(r, f);
	struct probes p;
	bool compensated = flow_probes(r, f, &p) && told;
	const struct probes *off = compensated ? &p : NULL;

	for (int i = 0; i < stage_count(f); i++) {
		const struct dist *d = &f->stage[i];

		if (!d->n)
			continue;
		json_array_append_new(all,
			json_pack("{s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "stage",
				stage_name(f, i), "n", (json_int_t)d->n, "bytes",
				(json_int_t)d->weight, "mean_ns", ns(r, told ? dist_mean(d) : NAN),
				"p50_ns", told ? quantile(r, d, 0.5) : json_null(), "p99_ns",
				told ? quantile(r, d, 0.99) : json_null(), "compensated_mean_ns",
				ns(r, compensated ? stage_mean(f, &p, i) : NAN),
				"compensated_p50_ns", stage_without(r, f, off, i, 0.5),
				"compensated_p99_ns", stage_without(r, f, off, i, 0.99)));
	}
	return all;
}

static json_t *why(const struct report *r, const struct flow *f)
{
	const struct dist *bar = &f->stage[TX_STAGE_SNDBUF];
	bool told = !flow_withheld(r, f);
	struct probes p;
	bool compensated = flow_probes(r, f, &p) && told;
	json_t *all;

	if (f->rx || !f->why || !f->why->rows || standing_of(flow_coverage(f)) == WITHHELD)
		return json_null();
	all = json_array();
	for (uint32_t i = 0; i < f->why->rows; i++) {
		const struct why_row *w = &f->why->row[i];

		json_array_append_new(all,
			json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:o, s:o}", "reason",
				why_reason_name(w->reason), "released_by",
				why_release_name(w->release), "n", (json_int_t)w->n, "bytes",
				(json_int_t)w->bytes, "share",
				number((double)w->bytes / (double)bar->weight), "wait_share",
				number(told && bar->sum ? (double)w->wait / (double)bar->sum : NAN),
				"mean_ns", ns(r, told ? (double)w->wait / (double)w->bytes : NAN),
				"compensated_mean_ns", ns(r, compensated ? why_mean(&p, w) : NAN)));
	}
	return all;
}

/* Returns the send buffer's stage divided by cause; the causes of each byte sum to its wait. */
static json_t *held(const struct report *r, const struct flow *f)
{
	const struct dist *bar = &f->stage[TX_STAGE_SNDBUF];
	bool told = !flow_withheld(r, f);
	double mean[WHYS], whole = (double)bar->weight;
	struct probes p;
	bool compensated = flow_probes(r, f, &p) && told;
	json_t *all;

	if (f->rx || !f->why || !f->why->rows || standing_of(flow_coverage(f)) == WITHHELD)
		return json_null();
	all = json_array();
	held_means(f, &p, mean);
	for (int i = 0; i < WHYS; i++) {
		const struct split *s = &f->why->split;
		double wait = (double)s->wait[i];

		if (!s->bytes[i] && !s->cycles[i])
			continue;
		json_array_append_new(all,
			json_pack("{s:s, s:I, s:o, s:o, s:o, s:o, s:o}", "reason",
				why_reason_name((unsigned int)i), "bytes", (json_int_t)s->bytes[i],
				"share", number((double)s->bytes[i] / whole), "wait_share",
				number(told && bar->sum ? wait / (double)bar->sum : NAN), "mean_ns",
				ns(r, told ? wait / whole : NAN), "compensated_mean_ns",
				ns(r, compensated ? mean[i] : NAN), "held_ns",
				ns(r, (double)s->cycles[i])));
	}
	return all;
}

/* Returns the times at which a call's last byte, and so all of it, had passed. */
static json_t *last_byte(const struct report *r, const struct flow *f)
{
	const struct dist *d = &f->last_byte;

	if (!d->n || standing_of(flow_coverage(f)) == WITHHELD)
		return json_null();
	return json_pack("{s:I, s:o, s:o, s:o}", "n", (json_int_t)d->n, "mean_ns",
		ns(r, dist_mean(d)), "p50_ns", quantile(r, d, 0.5), "p99_ns", quantile(r, d, 0.99));
}

static json_t *waterfalls(const struct report *r, const struct flow *f)
{
	static const double quantiles[] = {0.5, 0.9, 0.99, 0.999};
	json_t *all = json_array();

	for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
		double bar[STAGES_MAX], total, n;
		json_t *bars;

		if (flow_withheld(r, f) || !dist_quantile_supported(&f->residence, quantiles[i]))
			continue;
		n = waterfall_at(&f->waterfall, quantiles[i], bar, &total);
		if (n <= 0)
			continue;
		bars = json_array();
		for (int s = 0; s < stage_count(f); s++)
			if (f->stage[s].n)
				json_array_append_new(
					bars, json_pack("{s:s, s:o}", "stage", stage_name(f, s),
						      "mean_ns", ns(r, bar[s])));
		json_array_append_new(
			all, json_pack("{s:f, s:o, s:o, s:o}", "quantile", quantiles[i], "n",
				     number(n), "total_ns", ns(r, total), "stages", bars));
	}
	return all;
}

void json_residence(json_t *j, const struct report *r, const struct flow *f)
{
	bool any = f->residence.n, told = any && standing_of(flow_coverage(f)) != WITHHELD;
	const char *withheld = flow_withheld(r, f);
	enum standing standing = withheld ? WITHHELD : standing_of(flow_coverage(f));
	struct probes p;
	bool probes = flow_probes(r, f, &p) && told;

	json_object_set_new(j, "standing",
		withheld || !isnan(flow_coverage(f)) ? json_string(standing_name(standing))
						     : json_null());
	json_object_set_new(j, "withheld", withheld ? json_string(withheld) : json_null());
	json_object_set_new(j, "residence", stages(r, f));
	json_object_set_new(
		j, "residence_total_ns", told ? ns(r, dist_mean(&f->residence)) : json_null());
	json_object_set_new(
		j, "residence_total_p50_ns", told ? quantile(r, &f->residence, 0.5) : json_null());
	json_object_set_new(
		j, "residence_total_p99_ns", told ? quantile(r, &f->residence, 0.99) : json_null());
	json_object_set_new(j, "residence_uncertainty_ns", ns(r, probes ? p.twice_u : NAN));
	json_object_set_new(j, "probes_ns", ns(r, probes && !withheld ? p.sum : NAN));
	json_object_set_new(j, "residence_last_byte", last_byte(r, f));
	json_object_set_new(j, "send_buffer_why", why(r, f));
	json_object_set_new(j, "send_buffer_held", held(r, f));
	json_object_set_new(j, "waterfalls", waterfalls(r, f));
	json_object_set_new(j, "driver_refused",
		f->rx || !core_observes(r->core, MG_EVENT_dev_done)
			? json_null()
			: json_integer((json_int_t)f->refused));
	json_object_set_new(j, "closure_error_cycles",
		any ? json_integer((json_int_t)f->closure) : json_null());
}
