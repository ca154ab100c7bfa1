/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "event_table.h"
#include "reported/getters.h"
#include "text.h"

#define BAR_WIDTH 20

/* Smallest part shown of the causes for which bytes waited in the send buffer. */
#define WHY_SHOWN 0.01

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
			return;
		shown[most] = true;
		table_row(t, "  %s, %s of bytes\t%s\t\t\t%s", why_reason_label((unsigned int)most),
			text_percent(
				(double)s->bytes[most] / (double)measures(f)->residence.weight),
			text_ns(report_ns(r, mean[most])),
			text_percent(total > 0 ? mean[most] / total : 0));
	}
}

/* Prints why there is no waterfall. */
static void withheld(const struct report *r, const struct fact_flow *f, const char *why, FILE *to)
{
	struct probes p;

	if (strcmp(why, "coverage") == 0) {
		if (f->never_sent && isnan(flow_coverage(f)))
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
	fprintf(to, "  until a call's last byte had passed: mean %s, p50 %s, %s%s (%s call%s)\n",
		text_ns(report_ns(r, dist_mean(d))), text_ns(report_ns(r, dist_quantile(d, 0.5))),
		dist_highest(d) == 0.99 ? "p99 " : "",
		text_high(dist_highest(d), report_ns(r, dist_at_highest(d))), text_count(d->n),
		plural(d->n));
}

/* Returns why bytes lack a timestamp at some layer. */
static const char *why_missing(const struct fact_flow *f)
{
	if (f->gaps)
		return "events were lost";
	return f->incomplete_again * 2 > f->incomplete ? "most of them were retransmitted"
						       : "not every layer saw them";
}

static void bars(const struct report *r, const struct fact_flow *f, FILE *to)
{
	double mean = dist_mean(&measures(f)->residence), coverage = flow_coverage(f);
	struct table t;
	bool star = coverage < 0.99, compensated;
	struct flow_figures of;
	struct stage_figures one;
	uintptr_t at = 0;
	struct probes p;
	const char *why;

	if (f->ulp) {
		fprintf(to, "  not available: %s\n", text_ulp(f));
		return;
	}
	if (!core_observes(r->core, MG_EVENT_sys_enter)) {
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
	table_row(&t, "\t%s\t%s\t%s\tshare\t", LABEL(stage, compensated_mean_ns),
		LABEL(stage, compensated_p50_ns), LABEL(stage, compensated_p99_ns));
	of = flow_figures_of(r, f);
	while (next_residence_residence(&of, &at, &one)) {
		struct value bar = get_stage_compensated_mean_ns(&one);
		double share = mean > 0 ? stage_mean(f, &p, one.stage) / mean : 0;

		if (measures(f)->stage[one.stage].max == 0)
			continue;
		table_row(&t, "%s\t%s\t%s\t%s\t%s\t%s", stage_label(f, one.stage),
			text_value(bar, IN_NS),
			text_value(get_stage_compensated_p50_ns(&one), IN_NS),
			text_high(value_of(get_stage_highest(&one)),
				value_of(get_stage_compensated_at_highest_ns(&one))),
			text_percent(share), text_bar(share, BAR_WIDTH));
		if (one.stage == TX_STAGE_SNDBUF)
			held_rows(r, f, &p, &t);
	}
	if (compensated)
		table_row(&t, "tracing overhead\t%s\t\t\t%s",
			text_value(get_residence_probes_ns(&of), IN_NS),
			text_percent(mean > 0 ? p.sum / mean : 0));
	table_row(&t, "total%s\t%s\t%s\t%s", compensated ? ", as measured" : "",
		text_value(get_residence_residence_total_ns(&of), IN_NS),
		text_value(get_residence_residence_total_p50_ns(&of), IN_NS),
		text_high(value_of(get_residence_residence_total_highest(&of)),
			value_of(get_residence_residence_total_at_highest_ns(&of))));
	table_print(&t, to, 2, false);
	if (f->closure)
		fprintf(to, "  (stages miss the total by %llu cycles; ",
			(unsigned long long)f->closure);
	else
		fprintf(to, "  (stages sum exactly; ");
	fprintf(to, "%s of bytes followed", text_coverage(coverage));
	if (!isnan(p.twice_u))
		fprintf(to, "; %s%s after tracing overhead is taken off", text_plus_minus(),
			text_ns(report_ns(r, p.twice_u)));
	fprintf(to, ")\n");
	if (r->waterfall_at > 0)
		waterfall_about(r, f, r->waterfall_at, to);
	last_byte(r, f, to);
	if (f->driver_refused)
		fprintf(to, "  refused by the driver and retried: %s times\n",
			text_count(f->driver_refused));
	if (measures(f)->transit.n)
		fprintf(to,
			"  transit before that, from the sender's driver to the first layer here: "
			"mean %s\n",
			text_ns(report_ns(r, dist_mean(&measures(f)->transit))));
	text_lineage(r, f, true, to);
	if (star)
		fprintf(to, "  * bytes without a timestamp at some layer are left out: %s\n",
			why_missing(f));
}

/* Returns ", client of port 80,"; without the port where addresses are not recorded. */
static const char *text_side(const struct together *g)
{
	static char text[40];
	bool client = g->sum.side == SIDE_CLIENT;

	if (g->sum.side == SIDE_UNKNOWN)
		return "";
	if (g->port)
		snprintf(text, sizeof(text), ", %s port %u,", client ? "client of" : "server at",
			g->port);
	else
		snprintf(text, sizeof(text), ", %s,", client ? "client" : "server");
	return text;
}

static const char *star_beside(const struct fact_flow *f)
{
	return flow_coverage(f) < 0.99 ? " *" : "";
}

static void waterfall(const struct report *r, const struct fact_flow *f, FILE *to, bool colour)
{
	char remote[64];

	flow_far_end(r, f, remote);
	fprintf(to, "\n%sLatency by stage, %s %s%s%s   %s, %s %s, flow %s\n",
		colour ? "\033[1m" : "", f->flow.rx ? "received from" : "sent to", remote,
		star_beside(f), colour ? "\033[0m" : "", comm_or(f, flow_proto(f)),
		text_bytes((double)flow_bytes(f)), f->flow.rx ? "in" : "out", flow_id(f->flow));
	bars(r, f, to);
}

void text_together(const struct report *r, const struct together *g, FILE *to, bool colour)
{
	fprintf(to, "\n%sLatency by stage, %s by %s%s in %s %s flows%s%s   %s %s\n",
		colour ? "\033[1m" : "", g->sum.flow.rx ? "received" : "sent",
		comm_or(&g->sum, "the program"), text_side(g), text_count(g->count),
		flow_proto(&g->sum), star_beside(&g->sum), colour ? "\033[0m" : "",
		text_bytes((double)flow_bytes(&g->sum)), g->sum.flow.rx ? "in" : "out");
	bars(r, &g->sum, to);
	text_troubles(r, &g->sum, &g->tcp, to);
	text_drop_sums(&g->drops, to);
}

static void layer_titles(struct table *t, const char *first)
{
	table_row(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s", first, LABEL(layer, n), LABEL(layer, mean_size),
		LABEL(layer, cov_size), LABEL(layer, mean_spacing_ns), LABEL(layer, p50_spacing_ns),
		LABEL(layer, cov_spacing));
}

static void layer_row(
	const struct report *r, struct table *t, const char *label, const struct unit_stats *u)
{
	struct layer_figures of = {.r = r, .u = u};
	char cov_gap[32] = "";

	if (!u->n)
		return;
	if (u->gaps.n)
		snprintf(cov_gap, sizeof(cov_gap), "%.2f", get_layer_cov_spacing(&of).number);
	table_row(t, "  %s\t%s\t%s\t%.2f\t%s\t%s\t%s", label,
		text_value(get_layer_n(&of), IN_PACKETS),
		text_value(get_layer_mean_size(&of), IN_BYTES), get_layer_cov_size(&of).number,
		text_value(get_layer_mean_spacing_ns(&of), IN_NS),
		text_value(get_layer_p50_spacing_ns(&of), IN_NS), cov_gap);
}

/*
 * Adds a row with the frames that the packets stand for: a super-segment is no packet of its own
 * size.
 */
static void frames_row(struct table *t, const struct unit_stats *u, const char *what)
{
	uint64_t frames = u->frames - u->again_frames; /* frames of the packets counted */

	if (frames > u->n)
		table_row(t, "    as %s\t%s\t%s", what, text_count(frames),
			text_bytes((double)u->bytes / (double)frames));
	if (u->again_n)
		table_row(t, "    repeated\t%s", text_count(u->again_n));
}

static void modulation(const struct report *r, const struct fact_flow *f, FILE *to)
{
	struct modulation m = flow_modulation(r, f);
	double goodput = flow_goodput(r, f).ratio;

	if (f->ulp) {
		fprintf(to, "  modulation M n/a: %s\n", text_ulp(f));
		return;
	}
	if (!core_observes(r->core, MG_EVENT_sys_enter)) {
		fprintf(to, "  modulation M n/a: system calls were not recorded (--layers)\n");
		return;
	}
	if (flow_coverage(f) < 0.90) {
		fprintf(to, "  modulation M n/a: too few bytes were seen at every layer\n");
		return;
	}
	if (!m.known) {
		fprintf(to, "  modulation M n/a: %s\n",
			f->flow.rx && !f->peer.sock ? "the sender is not in this trace"
						    : "no byte was seen at both layers");
		return;
	}
	fprintf(to, "  %s %s %s: mean shift J = %s", f->flow.rx ? "peer's call" : "call",
		text_arrow(), f->flow.rx ? "call" : "device", text_ns(m.j_ns));
	if (isnan(m.m))
		fprintf(to, ", modulation M n/a (one call has no gap)\n");
	else
		fprintf(to, ", gap between sends tau = %s, modulation M = J/tau = %.2f\n",
			text_ns(m.tau_ns), m.m);
	fprintf(to, "    S = %.2f %s per %s; sender blocked %s of the time", m.s,
		f->flow.rx ? "calls" : "packets", f->flow.rx ? "peer's call" : "call",
		text_percent(m.blocked_share));
	if (!isnan(m.w1_spacing_ns))
		fprintf(to, "; spacings differ by W1 = %s", text_ns(m.w1_spacing_ns));
	if (!isnan(goodput))
		fprintf(to, ";\n    goodput %s of the bytes on the wire", text_coverage(goodput));
	fprintf(to, "\n");
}

static void traffic(const struct report *r, const struct fact_flow *f, FILE *to, bool colour)
{
	struct fact_flow peer;
	struct table t;
	char title[60];

	table_begin(&t, "lrrrrrr");
	snprintf(title, sizeof(title), "Traffic by layer, flow %s", flow_id(f->flow));
	layer_titles(&t, title);
	if (f->flow.rx) {
		if (flow_peer(r, f, &peer))
			layer_row(r, &t, "peer's call", &measures(&peer)->units[TX_CALL]);
		layer_row(r, &t, "device", &measures(f)->units[RX_DEV]);
		frames_row(&t, &measures(f)->units[RX_DEV], "frames");
		layer_row(r, &t, "TCP", &measures(f)->units[RX_TCP]);
		layer_row(r, &t, "call", &measures(f)->units[RX_CALL]);
	} else {
		layer_row(r, &t, "call", &measures(f)->units[TX_CALL]);
		layer_row(r, &t, "TCP to IP", &measures(f)->units[TX_IP_OUT]);
		frames_row(&t, &measures(f)->units[TX_IP_OUT], "segments");
		layer_row(r, &t, "device", &measures(f)->units[TX_XMIT]);
		frames_row(&t, &measures(f)->units[TX_XMIT], "frames");
	}
	fprintf(to, "\n");
	table_print(&t, to, 0, colour);
	modulation(r, f, to);
}

/* Prints what passed each layer, for sockets without sequence numbers. */
static void datagrams(const struct report *r, const struct fact_flow *f, FILE *to, bool colour)
{
	static const int tx[] = {TX_CALL, TX_COPY, TX_IP_OUT, TX_XMIT};
	static const int rx[] = {RX_DEV, RX_IP, RX_COPY, RX_CALL};
	static const char *const tx_labels[] = {"call", "socket", "IP", "device"};
	static const char *const rx_labels[] = {"device", "IP", "socket", "call"};
	char local[64], remote[64], ends[140] = "";
	struct table t;

	flow_ends(f, local, remote);
	if (f->local.addr)
		snprintf(ends, sizeof(ends), " %s, peer %s,", local,
			flow_has_several_ends(f)                 ? "several"
			: f->remote.port || flow_has_far_ends(f) ? remote
								 : "any");
	fprintf(to, "\n%s%s,%s %s, %s %s, flow %s%s\n", colour ? "\033[1m" : "", flow_proto(f),
		ends, comm_or(f, flow_proto(f)), text_bytes((double)flow_bytes(f)),
		f->flow.rx ? "in" : "out", flow_id(f->flow), colour ? "\033[0m" : "");
	table_begin(&t, "lrrrrrr");
	layer_titles(&t, "  layer");
	for (int i = 0; i < 4; i++) {
		const struct unit_stats *u = &measures(f)->units[f->flow.rx ? rx[i] : tx[i]];

		layer_row(r, &t, f->flow.rx ? rx_labels[i] : tx_labels[i], u);
		/* calls and messages are the program's own units */
		if (f->flow.rx ? rx[i] == RX_DEV : tx[i] == TX_XMIT)
			frames_row(&t, u, "frames");
		else if (f->flow.rx ? rx[i] == RX_IP : tx[i] == TX_IP_OUT)
			frames_row(&t, u, "datagrams");
	}
	table_print(&t, to, 0, false);
	if (f->calls)
		modulation(r, f, to);
	if (f->unmatched)
		fprintf(to, "  datagrams that could not be matched to a call with certainty: %s\n",
			text_count(f->unmatched));
}

/* Prints the flow's dropped packets. */
static void drops(const struct report *r, const struct fact_flow *f, FILE *to)
{
	struct drop_sums all = {0};
	const struct flow_drop *of;
	size_t n;

	if (!f->dropped)
		return;
	of = report_drops_of(r, f, &n);
	for (size_t i = 0; i < n; i++)
		drop_sums_add(&all, of[i].d);
	drop_sums_sort(&all);
	text_drop_sums(&all, to);
	drop_sums_free(&all);
}

void text_flow(const struct report *r, const struct fact_flow *f, FILE *to, bool colour)
{
	if (f->kind == MG_KIND_tcp) {
		waterfall(r, f, to, colour);
		traffic(r, f, to, colour);
		text_tcp(r, f, to);
	} else {
		if (f->calls && flow_bytes(f))
			waterfall(r, f, to, colour);
		datagrams(r, f, to, colour);
	}
	text_zerocopy(r, f, to);
	drops(r, f, to);
	if (r->demand)
		text_on_demand(r, f, to, colour);
}
