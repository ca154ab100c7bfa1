/* SPDX-License-Identifier: MIT */
/*
 * Writes a flow as JSON in brief, on one line with its identity, where a recording has more than a
 * thousand flows. The line is written directly, as building a tree would take most of the time.
 */
#include <math.h>

#include "report.h"
#include "reported/json.h"

#define DIGITS 5

static void number(double v, FILE *to)
{
	if (isnan(v) || isinf(v))
		fputs("null", to);
	else
		fprintf(to, "%.*g", DIGITS, v);
}

static void member(const char *key, double v, FILE *to)
{
	fprintf(to, ",\"%s\":", key);
	number(v, to);
}

static void count(const char *key, uint64_t n, FILE *to)
{
	fprintf(to, ",\"%s\":%llu", key, (unsigned long long)n);
}

static void text(const char *key, json_t *value, FILE *to)
{
	fprintf(to, ",\"%s\":", key);
	json_dumpf(value, to, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
	json_decref(value);
}

static void ends(const struct flow *f, FILE *to)
{
	bool anonymous = !f->sock->has_addr, named = f->sock->name[0];
	char local[64], remote[64];

	flow_ends(f, local, remote);
	text("local", anonymous && !named ? json_null() : json_text(local), to);
	text("remote", anonymous ? json_null() : json_text(remote), to);
}

static void layers(const struct flow *f, FILE *to)
{
	const char *comma = "";

	fputs(",\"layers\":[", to);
	for (int i = 0; i < layer_count(f); i++) {
		const struct unit_stats *u = &f->units[i];

		if (!u->n)
			continue;
		fprintf(to, "%s{\"name\":\"%s\"", comma, layer_name(f, i));
		count("n", u->n, to);
		if (u->bytes != flow_bytes(f))
			count("bytes", u->bytes, to);
		fputc('}', to);
		comma = ",";
	}
	fputc(']', to);
}

static void stages(const struct report *r, const struct flow *f, bool told, FILE *to)
{
	const char *comma = "";

	fputs(",\"residence\":[", to);
	for (int i = 0; i < stage_count(f); i++) {
		if (!f->stage[i].n)
			continue;
		fprintf(to, "%s{\"stage\":\"%s\"", comma, stage_name(f, i));
		if (f->stage[i].n != f->residence.n)
			count("n", f->stage[i].n, to);
		member("mean_ns", told ? report_ns(r, dist_mean(&f->stage[i])) : NAN, to);
		fputc('}', to);
		comma = ",";
	}
	fputc(']', to);
}

static void modulation(const struct report *r, const struct flow *f, FILE *to)
{
	struct modulation m = flow_modulation(r, f);

	fputs(",\"modulation\":{\"J_ns\":", to);
	number(m.j_ns, to);
	member("M", m.m, to);
	fputc('}', to);
}

bool flow_is_eventful(const struct flow *f)
{
	const struct tcp_record *t = f->sock->tcp;

	if (t && (t->timeouts || t->resets_sent || t->resets_received || t->own.n || t->peer.n ||
			 t->recoveries))
		return true;
	return f->retransmits || f->dropped || f->dropped_bytes || f->copies.retransmitted ||
	       f->copies.ambiguous || f->incomplete || f->unmatched || f->refused || f->unsent ||
	       f->refusals.n || f->urgent.discarded;
}

void json_brief(const struct report *r, const struct flow *f, FILE *to)
{
	bool any = f->residence.n, told = any && standing_of(flow_coverage(f)) != WITHHELD;

	fprintf(to, "{\"id\":\"%s\",\"proto\":\"%s\"", flow_id(f), flow_proto(f));
	ends(f, to);
	fprintf(to, ",\"direction\":\"%s\"", f->rx ? "rx" : "tx");
	if (f->sock->pid)
		count("pid", f->sock->pid, to);
	else
		fputs(",\"pid\":null", to);
	text("comm", json_comm(flow_comm(r, f)), to);
	count("bytes", flow_bytes(f), to);
	member("coverage", flow_coverage(f), to);
	if (!f->rx && f->sock->unclaimed)
		fputs(",\"tx_call_n\":null", to);
	else if (!f->rx)
		count("tx_call_n", f->calls, to);
	if (!f->rx)
		text("retransmits", value_json(flow_retransmits(r, f)), to);
	layers(f, to);
	stages(r, f, !flow_withheld(r, f), to);
	member("residence_total_ns", told ? report_ns(r, dist_mean(&f->residence)) : NAN, to);
	if (any)
		count("closure_error_cycles", (uint64_t)f->closure, to);
	else
		fputs(",\"closure_error_cycles\":null", to);
	modulation(r, f, to);
	fputc('}', to);
}
