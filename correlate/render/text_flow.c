/* SPDX-License-Identifier: MIT */
/* Prints a flow, or a group of them: where its bytes waited, and what became of its traffic. */

#include "event_table.h"
#include "reported/getters.h"
#include "text.h"

/* Returns ", client of port 80,"; without the port where addresses are not recorded. */
static const char *text_side(const struct together *g)
{
	static char text[40];
	bool client = g->sum.side == SIDE_CLIENT;

	if (g->sum.side == SIDE_UNKNOWN)
		return "";
	if (g->key.port)
		snprintf(text, sizeof(text), ", %s port %u,", client ? "client of" : "server at",
			g->key.port);
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
	text_stages(r, f, to);
}

static void datagram_title(const struct fact_flow *f, FILE *to, bool colour)
{
	char local[64], remote[64], ends[140] = "";

	flow_ends(f, local, remote);
	if (f->local.addr)
		snprintf(ends, sizeof(ends), " %s, peer %s,", local,
			flow_has_several_ends(f)                 ? "several"
			: f->remote.port || flow_has_far_ends(f) ? remote
								 : "any");
	fprintf(to, "\n%s%s,%s %s, %s %s, flow %s%s\n", colour ? "\033[1m" : "", flow_proto(f),
		ends, comm_or(f, flow_proto(f)), text_bytes((double)flow_bytes(f)),
		f->flow.rx ? "in" : "out", flow_id(f->flow), colour ? "\033[0m" : "");
}

/* Prints what passed each layer, for sockets without sequence numbers. */
static void datagrams(const struct report *r, const struct fact_flow *f, FILE *to, bool colour)
{
	datagram_title(f, to, colour);
	text_datagram_layers(r, f, to);
	if (f->unmatched)
		fprintf(to, "  datagrams that could not be matched to a call with certainty: %s\n",
			text_count(f->unmatched));
}

/* Prints what the stack made of the traffic of a group's largest flow: there is no sum of it. */
static void largest_traffic(
	const struct report *r, const struct fact_flow *f, FILE *to, bool colour)
{
	char whose[64];

	if (text_has_all(r)) /* single flows follow */
		return;
	if (text_has_only_timed_sends(r, f) && !text_has_modulation(r))
		return;
	if (!text_has_modulation(r)) {
		snprintf(whose, sizeof(whose), " of the largest, flow %s", flow_id(f->flow));
		text_traffic_line(r, f, whose, to);
	} else if (f->kind == MG_KIND_tcp) {
		text_traffic(r, f, to, colour);
	} else {
		datagrams(r, f, to, colour);
	}
}

void text_together(const struct report *r, const struct together *g, FILE *to, bool colour)
{
	fprintf(to, "\n%sLatency by stage, %s by %s%s in %s %s flows%s%s   %s %s\n",
		colour ? "\033[1m" : "", g->sum.flow.rx ? "received" : "sent",
		comm_or(&g->sum, "the program"), text_side(g), text_count(g->count),
		flow_proto(&g->sum), star_beside(&g->sum), colour ? "\033[0m" : "",
		text_bytes((double)flow_bytes(&g->sum)), g->sum.flow.rx ? "in" : "out");
	text_stages(r, &g->sum, to);
	text_timed_sends(r, &g->sum, to);
	largest_traffic(r, g->first, to, colour);
	text_troubles(r, &g->sum, &g->tcp, to);
	text_drop_sums(&g->drops, to);
}

/* Prints the flow's dropped packets. */
static void drops(const struct report *r, const struct fact_flow *f, FILE *to)
{
	struct drop_sums all = {0};
	const struct flow_drop *of;
	size_t n;

	if (!f->dropped)
		return;
	of = report_drops_of(r, f->flow.sock, f->flow.rx, &n);
	for (size_t i = 0; i < n; i++)
		drop_sums_add(&all, of[i].d);
	drop_sums_sort(&all);
	text_drop_sums(&all, to);
	drop_sums_free(&all);
}

void text_flow(const struct report *r, const struct fact_flow *f, FILE *to, bool colour)
{
	bool has_stages = f->kind == MG_KIND_tcp || (f->calls && flow_bytes(f));

	if (has_stages)
		waterfall(r, f, to, colour);
	text_timed_sends(r, f, to);
	if (!text_has_modulation(r)) {
		if (!has_stages)
			datagram_title(f, to, colour);
		if (!text_has_only_timed_sends(r, f))
			text_traffic_line(r, f, "", to);
	} else if (f->kind == MG_KIND_tcp) {
		text_traffic(r, f, to, colour);
	} else {
		datagrams(r, f, to, colour);
	}
	if (f->kind == MG_KIND_tcp)
		text_tcp(r, f, to);
	text_zerocopy(r, f, to);
	drops(r, f, to);
	if (r->demand)
		text_on_demand(r, f, to, colour);
}
