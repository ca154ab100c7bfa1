/* SPDX-License-Identifier: MIT */
/*
 * Writes a flow as JSON in brief, on one line with its identity, where a recording has more than a
 * thousand flows. The line is written directly, as building a tree would take most of the time.
 */
#include "report.h"
#include "reported/json.h"

#define DIGITS 5

static void value(struct value v, FILE *to)
{
	json_t *j;

	switch (v.kind) {
	case VALUE_COUNT:
		fprintf(to, "%llu", (unsigned long long)v.count);
		return;
	case VALUE_SIGNED:
		fprintf(to, "%lld", (long long)v.signed_count);
		return;
	case VALUE_NUMBER:
		fprintf(to, "%.*g", DIGITS, v.number);
		return;
	case VALUE_UNKNOWN:
		fputs("null", to);
		return;
	default:
		j = value_json(v);
		json_dumpf(j, to, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
		json_decref(j);
	}
}

static void member(const char *key, struct value v, FILE *to)
{
	fprintf(to, ",\"%s\":", key);
	value(v, to);
}

/* The member of this name in the table of figures, of the scope S. */
#define MEMBER(S, key, of, to) member(#key, get_##S##_##key(of), to)
#define MEMBER_IF(S, key, condition, of, to) \
	member(#key, value_if(known_##S##_##condition(of), get_##S##_##key(of)), to)

static void layers(const struct flow_figures *f, FILE *to)
{
	struct layer_figures l;
	const char *comma = "";
	uintptr_t at = 0;

	fputs(",\"layers\":[", to);
	while (next_flow_layers(f, &at, &l)) {
		fprintf(to, "%s{\"name\":", comma);
		value(get_layer_name(&l), to);
		MEMBER(layer, n, &l, to);
		if (l.u->bytes != flow_bytes(f->f))
			MEMBER(layer, bytes, &l, to);
		fputc('}', to);
		comma = ",";
	}
	fputc(']', to);
}

static void stages(const struct flow_figures *f, FILE *to)
{
	struct stage_figures s;
	const char *comma = "";
	uintptr_t at = 0;

	fputs(",\"residence\":[", to);
	while (next_residence_residence(f, &at, &s)) {
		fprintf(to, "%s{\"stage\":", comma);
		value(get_stage_stage(&s), to);
		if (measures(f->f)->stage[s.stage].n != measures(f->f)->residence.n)
			MEMBER(stage, n, &s, to);
		MEMBER_IF(stage, mean_ns, told, &s, to);
		fputc('}', to);
		comma = ",";
	}
	fputc(']', to);
}

static void modulation(const struct flow_figures *f, FILE *to)
{
	struct modulation_figures m = {.m = flow_modulation(f->r, f->f)};

	fputs(",\"modulation\":{\"J_ns\":", to);
	value(get_modulation_J_ns(&m), to);
	MEMBER(modulation, M, &m, to);
	fputc('}', to);
}

bool flow_is_eventful(const struct flow *f)
{
	const struct tcp_record *t = measures_tcp(f->sock);

	if (t && (t->timeouts || t->resets_sent || t->resets_received || t->own.n || t->peer.n ||
			 t->recoveries))
		return true;
	return f->retried.segments || f->drops.n || f->drops.bytes || f->copies.retransmitted ||
	       f->copies.ambiguous || f->incomplete || f->missing.messages || f->drops.refused ||
	       f->never_sent.bytes || f->refusals.n || f->urgent.discarded;
}

void json_brief(const struct report *r, const struct flow *flow, FILE *to)
{
	struct flow_figures of = flow_figures_of(r, flow), *f = &of;

	fputs("{\"id\":", to);
	value(get_flow_id(f), to);
	MEMBER(flow, proto, f, to);
	MEMBER(flow, local, f, to);
	MEMBER(flow, remote, f, to);
	MEMBER(flow, direction, f, to);
	MEMBER(flow, pid, f, to);
	MEMBER(flow, comm, f, to);
	MEMBER(flow, bytes, f, to);
	MEMBER(flow, coverage, f, to);
	if (!flow->rx) {
		MEMBER_IF(flow, tx_call_n, sent_claimed, f, to);
		MEMBER_IF(flow, retransmits, retransmits, f, to);
	}
	layers(f, to);
	stages(f, to);
	MEMBER_IF(residence, residence_total_ns, total, f, to);
	MEMBER_IF(residence, closure_error_cycles, any, f, to);
	modulation(f, to);
	fputc('}', to);
}
