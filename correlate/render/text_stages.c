/* SPDX-License-Identifier: MIT */
/* Prints where a flow's bytes waited, stage by stage. */
#include <math.h>
#include <string.h>

#include "event_table.h"
#include "reported/getters.h"
#include "reported/steal.h"
#include "text.h"

/* Columns of a bar, of which there is room for half where the terminal is narrow. */
#define BAR_WIDTH (text_columns() < 90 ? 10 : 20)

/* Smallest part shown of the causes for which bytes waited in the send buffer. */
#define WHY_SHOWN 0.01
/* Smallest part of the whole time that the short form shows. */
#define SHARE_SHOWN 0.01

/* Prints for how much of the wait in the send buffer earlier bytes had to be sent again. */
static void lost_row(
	const struct report *r, const struct fact_flow *f, const struct probes *p, struct table *t)
{
	double share = flow_lost_share(f), mean = stage_mean(f, p, TX_STAGE_SNDBUF) * share;
	double total = dist_mean(&measures(f)->residence);

	if (share > WHY_SHOWN && mean > SHARE_SHOWN * total)
		table_row(t, "  of this while earlier bytes had to be sent again\t%s\t\t\t%s",
			text_ns(report_ns(r, mean)), text_percent(total > 0 ? mean / total : 0));
}

static void held_rows(
	const struct report *r, const struct fact_flow *f, const struct probes *p, struct table *t)
{
	double total = dist_mean(&measures(f)->residence), mean[WHYS];
	const struct why_sums *s = measures(f)->why;
	bool shown[WHYS] = {false};

	if (f->flow.rx || !s || s->wait[WHY_IMMEDIATE] == measures(f)->stage[TX_STAGE_SNDBUF].sum)
		return; /* or nothing waited */
	held_means(f, p, mean);
	for (;;) {
		int most = -1;

		for (int i = 0; i < WHYS; i++)
			if (!shown[i] && (most < 0 || s->wait[i] > s->wait[most]))
				most = i;
		if (most < 0 || (double)s->wait[most] <=
					WHY_SHOWN * (double)measures(f)->stage[TX_STAGE_SNDBUF].sum)
			break;
		shown[most] = true;
		if (!text_has_all(r) && mean[most] < SHARE_SHOWN * total)
			continue;
		table_row(t, "  %s, %s of bytes\t%s\t\t\t%s", why_reason_label((unsigned int)most),
			text_percent(
				(double)s->bytes[most] / (double)measures(f)->residence.weight),
			text_ns(report_ns(r, mean[most])),
			text_percent(total > 0 ? mean[most] / total : 0));
	}
	lost_row(r, f, p, t);
}

/* Prints why there is no waterfall. */
static void withheld(const struct report *r, const struct fact_flow *f, const char *why, FILE *to)
{
	struct probes p;

	if (strcmp(why, "coverage") == 0) {
		if (!f->bytes && !f->never_sent)
			fprintf(to, "  no bytes\n");
		else if (f->never_sent && isnan(flow_coverage(f)))
			fprintf(to, "  not shown: no byte left the socket\n");
		else
			fprintf(to, "  not shown: only %s of the bytes were seen at every layer\n",
				text_coverage(flow_coverage(f)));
		return;
	}
	if (strcmp(why, "copies") == 0) {
		fprintf(to, "  not shown: none of the bytes seen at every layer can be assigned "
			    "to stages\n");
		return;
	}
	flow_probes(r, f, &p);
	fprintf(to,
		"  not shown: the mean total is %s, uncertain by %s because of tracing overhead\n",
		text_ns(report_ns(r, dist_mean(&measures(f)->residence))),
		text_ns(report_ns(r, p.twice_u + report_join_error(r))));
}

/* Prints the mean stages of the bytes whose total is near a quantile. */
static void waterfall_about(
	const struct report *r, const struct fact_flow *f, double quantile, FILE *to)
{
	double bar[STAGES_MAX], total, n;
	struct table t;
	uint64_t whole;

	if (!dist_quantile_supported(&measures(f)->residence, quantile)) {
		fprintf(to, "  stages near p%g: too few samples\n", quantile * 100);
		return;
	}
	n = waterfall_at(&measures(f)->waterfall, quantile, bar, &total);
	if (n <= 0)
		return;
	whole = n > 1 ? (uint64_t)(n + 0.5) : 1;
	table_begin(&t, "lrrl");
	table_row(&t, "stages near p%g, mean of %s sample%s, as measured\tmean\tshare\t",
		quantile * 100, text_count(whole), plural(whole));
	for (int i = 0; i < stage_count(f); i++) {
		double share = total > 0 ? bar[i] / total : 0;

		if (bar[i] > 0)
			table_row(&t, "%s\t%s\t%s\t%s", stage_label(f, i),
				text_ns(report_ns(r, bar[i])), text_percent(share),
				text_bar(share, BAR_WIDTH));
	}
	table_row(&t, "total\t%s", text_ns(report_ns(r, total)));
	table_print(&t, to, 2, false);
}

static void last_byte(const struct report *r, const struct fact_flow *f, FILE *to)
{
	const struct dist *d = &measures(f)->last_byte;

	if (!d->n || d->n == measures(f)->residence.n) /* the same as the total */
		return;
	fprintf(to, "  until a call's last byte had passed: mean %s, p50 %s, %s (%s call%s)\n",
		text_ns(report_ns(r, dist_mean(d))), text_ns(report_ns(r, dist_quantile(d, 0.5))),
		text_named_high(dist_highest(d), report_ns(r, dist_at_highest(d))),
		text_count(d->n), plural(d->n));
}

/* Returns why bytes lack a timestamp at some layer. */
static const char *why_missing(const struct fact_flow *f)
{
	if (f->gaps)
		return "events were lost";
	return f->incomplete_again * 2 > f->incomplete ? "most of them were retransmitted"
						       : "not every layer saw them";
}

/* Prints whether the stages sum to the total, of how many bytes, and how exact they are. */
static void closure(
	const struct report *r, const struct fact_flow *f, const struct probes *p, FILE *to)
{
	if (f->closure)
		fprintf(to, "  (stages miss the total by %llu cycles; ",
			(unsigned long long)f->closure);
	else
		fprintf(to, "  (stages sum exactly; ");
	fprintf(to, "%s of bytes followed", text_coverage(flow_coverage(f)));
	if (!isnan(p->twice_u))
		fprintf(to, "; %s%s after tracing overhead is taken off", text_plus_minus(),
			text_ns(report_ns(r, p->twice_u)));
	fprintf(to, ")\n");
}

/* Returns a stage's label, and whether its tail may be the hypervisor's. */
static const char *label_with_steal(
	const struct report *r, const struct fact_flow *f, int stage, char *to, size_t size)
{
	if (!stage_tail_may_be_steal(r, f, stage))
		return stage_label(f, stage);
	snprintf(to, size, "%s; tail may be steal (%s)", stage_label(f, stage),
		text_percent(report_steal_share(r)));
	return to;
}

/* Adds what a capture has beyond the stages, if there is one: it is no part of their total. */
static void wire_row(const struct flow_figures *of, struct table *t)
{
	struct wire_flow_figures w;
	struct crossing_time_figures time;
	char label[80];

	if (!into_flow_wire(of, &w) || !into_wire_flow_device_ns(&w, &time) || !time.d->n)
		return;
	snprintf(label, sizeof(label), "%s, not in the total (+-%s)",
		of->f->flow.rx ? "wire to device" : "driver to wire",
		text_value(get_crossing_time_half_width(&time), IN_NS));
	table_row(t, "%s\t%s\t%s\t%s", label, text_value(get_crossing_time_mean(&time), IN_NS),
		text_value(get_crossing_time_p50(&time), IN_NS),
		text_value(get_crossing_time_p99(&time), IN_NS));
}

/* Adds a row for each stage worth one, and for the sum of the others. */
static void stage_rows(const struct report *r, const struct fact_flow *f, const struct probes *p,
	bool compensated, struct table *t)
{
	double mean = dist_mean(&measures(f)->residence), rest = 0;
	struct flow_figures of = flow_figures_of(r, f);
	bool overhead = compensated && (text_has_all(r) || p->sum >= SHARE_SHOWN * mean);
	struct stage_figures one;
	uintptr_t at = 0;

	while (next_residence_residence(&of, &at, &one)) {
		struct value bar = get_stage_compensated_mean_ns(&one);
		double share = mean > 0 ? stage_mean(f, p, one.stage) / mean : 0;
		char label[80];

		if (measures(f)->stage[one.stage].max == 0)
			continue;
		if (!text_has_all(r) && share < SHARE_SHOWN) {
			rest += stage_mean(f, p, one.stage);
			continue;
		}
		table_row(t, "%s\t%s\t%s\t%s\t%s\t%s",
			label_with_steal(r, f, one.stage, label, sizeof(label)),
			text_value(bar, IN_NS),
			text_value(get_stage_compensated_p50_ns(&one), IN_NS),
			text_high(value_of(get_stage_highest(&one)),
				value_of(get_stage_compensated_at_highest_ns(&one))),
			text_percent(share), text_bar(share, BAR_WIDTH));
		if (one.stage == TX_STAGE_SNDBUF)
			held_rows(r, f, p, t);
	}
	if (compensated && !overhead)
		rest += p->sum;
	if (rest > 0)
		table_row(t, "all else\t%s\t\t\t%s", text_ns(report_ns(r, rest)),
			text_percent(mean > 0 ? rest / mean : 0));
	if (overhead)
		table_row(t, "tracing overhead\t%s\t\t\t%s",
			text_value(get_residence_probes_ns(&of), IN_NS),
			text_percent(mean > 0 ? p->sum / mean : 0));
	table_row(t, "total%s\t%s\t%s\t%s", compensated && text_has_all(r) ? ", as measured" : "",
		text_value(get_residence_residence_total_ns(&of), IN_NS),
		text_value(get_residence_residence_total_p50_ns(&of), IN_NS),
		text_high(value_of(get_residence_residence_total_highest(&of)),
			value_of(get_residence_residence_total_at_highest_ns(&of))));
	wire_row(&of, t);
}

/* Prints what there is below the table of stages. */
static void below(
	const struct report *r, const struct fact_flow *f, const struct probes *p, FILE *to)
{
	if (text_explains(r) || f->closure)
		closure(r, f, p, to);
	if (r->detail.waterfall_at > 0)
		waterfall_about(r, f, r->detail.waterfall_at, to);
	if (text_has_all(r))
		last_byte(r, f, to);
	if (f->driver_refused)
		fprintf(to, "  refused by the driver and retried: %s times\n",
			text_count(f->driver_refused));
	if (measures(f)->transit.n && text_has_all(r))
		fprintf(to,
			"  transit before that, from the sender's driver to the first layer here: "
			"mean %s\n",
			text_ns(report_ns(r, dist_mean(&measures(f)->transit))));
	text_lineage(r, f, true, to);
	if (flow_coverage(f) < 0.99)
		fprintf(to, "  * bytes without a timestamp at some layer are left out: %s\n",
			why_missing(f));
}

void text_stages(const struct report *r, const struct fact_flow *f, FILE *to)
{
	struct table t;
	struct probes p;
	const char *why;
	bool compensated;

	if (f->ulp) {
		fprintf(to, "  not available: %s\n", text_ulp(f));
		return;
	}
	if (text_has_only_timed_sends(r, f))
		return;
	if (!core_has_observed(r->core, MG_EVENT_sys_enter)) {
		fprintf(to, "  not available: system calls were not recorded (--layers)\n");
		return;
	}
	why = flow_withheld(r, f);
	if (why || !measures(f)->residence.n) {
		withheld(r, f, why ? why : "coverage", to);
		text_lineage(r, f, why && strcmp(why, "copies") == 0, to);
		return;
	}
	compensated = flow_probes(r, f, &p);
	table_begin(&t, "lrrrrl");
	table_drops(&t, "52");
	table_row(&t, "\t%s\t%s\t%s\tshare\t", LABEL(stage, compensated_mean_ns),
		LABEL(stage, compensated_p50_ns), LABEL(stage, compensated_p99_ns));
	stage_rows(r, f, &p, compensated, &t);
	table_print(&t, to, 2, false);
	below(r, f, &p, to);
}
