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

	fputc('[', to);
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

static void residence(const struct flow_figures *f, FILE *to)
{
	struct stage_figures s;
	const char *comma = "";
	uintptr_t at = 0;

	fputc('[', to);
	while (next_residence_residence(f, &at, &s)) {
		fprintf(to, "%s{\"stage\":", comma);
		value(get_stage_stage(&s), to);
		if (measures(f->f)->stage[s.stage].n != measures(f->f)->residence.n)
			MEMBER(stage, n, &s, to);
		MEMBER_IF(stage, mean_ns, shown, &s, to);
		fputc('}', to);
		comma = ",";
	}
	fputc(']', to);
}

static void modulation(const struct flow_figures *f, FILE *to)
{
	struct modulation_figures m = {.m = flow_modulation(f->r, f->f)};

	fputs("{\"J_ns\":", to);
	value(get_modulation_J_ns(&m), to);
	MEMBER(modulation, M, &m, to);
	fputc('}', to);
}

#define IS_NOTABLE(member, use)                 || (use != QUIET && f->member)
#define FIGURE_IS_NOTABLE(S, name, member, use) IS_NOTABLE(member, use)
bool flow_is_eventful(const struct fact_flow *f)
{
	const struct tcp_record *t = measures_tcp(f);

	return (t && tcp_is_eventful(t)) MG_FLOW_COUNTERS(FIGURE_IS_NOTABLE, IS_NOTABLE);
}

#define FIGURE(name, which) {#name, BRIEF_##which, NULL},
#define OTHER(name)         {#name, BRIEF_EACH, name},
enum brief { BRIEF_EACH, BRIEF_SENT };

void json_brief(const struct report *r, const struct fact_flow *flow, FILE *to)
{
	static const struct {
		const char *name;
		enum brief which;
		void (*write)(const struct flow_figures *f, FILE *to); /* NULL: a figure */
	} members[] = {MG_FLOW_IN_BRIEF(FIGURE, OTHER)};
	struct flow_figures f = flow_figures_of(r, flow);
	const char *comma = "{";

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		if (members[i].which == BRIEF_SENT && flow->flow.rx)
			continue;
		fprintf(to, "%s\"%s\":", comma, members[i].name);
		comma = ",";
		if (members[i].write)
			members[i].write(&f, to);
		else
			value(figure_value(figure_of(&scope_flow, members[i].name), &f), to);
	}
	fputc('}', to);
}
