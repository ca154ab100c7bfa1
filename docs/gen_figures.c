/* SPDX-License-Identifier: MIT */
/*
 * Prints the manual page magnet-figures(5), or with the argument "schema" the JSON Schema of
 * `magnet report --json`, from the table of figures.
 */
#include <stdio.h>
#include <string.h>

#include "demand/table.h"
#include "reported/getters.h"

static const char head[] =
	".\\\" SPDX-License-Identifier: MIT\n"
	".\\\" Made by gen_figures.c from correlate/reported/table.h: do not edit.\n"
	".Dd November 23, 2026\n"
	".Dt MAGNET-FIGURES 5\n"
	".Os\n"
	".Sh NAME\n"
	".Nm magnet-figures\n"
	".Nd what magnet reports\n"
	".Sh DESCRIPTION\n"
	"The members of the object that\n"
	".Nm magnet report Fl -json\n"
	"prints, which is of the kind report below.\n"
	".Pa method.md ,\n"
	"installed with the documentation, defines the figures.\n"
	"The same list is a JSON Schema,\n"
	".Pa report.schema.json .\n"
	".Pp\n"
	"A figure that is not known is null, never 0.\n"
	"Where that may be, the text says when it is known.\n"
	"Times are nanoseconds, shares are 0 to 1.\n"
	".Sh FIGURES\n";

static const char tail[] = ".Sh SEE ALSO\n"
			   ".Xr magnet-report 1 ,\n"
			   ".Xr magnet-events 5 ,\n"
			   ".Xr magnet-facts 5\n";

#define SCOPE_OF(S, ctype, doc) &scope_##S,
static const struct scope *const scopes[] = {MG_SCOPES(SCOPE_OF)};
#define SCOPES (sizeof(scopes) / sizeof(scopes[0]))

/* Members that are added to a report, with the scope of what they have. */
static const struct beside {
	const char *scope, *name, *child, *when;
	bool is_list;
} beside[] = {
	{"report", "comparison", "comparison", "it is compared with another (--against)", false},
	{"report", "hosts", "hosts", "it is of two hosts, of which the report has the first",
		false},
	{"hosts", "other", "report", NULL, false},
	{"report", "wire", "wire", "it is compared with a capture (--pcap)", false},
	{"flow", "calls", "call_on_flow", "it alone is reported (--flow)", true},
};
#define BESIDES (sizeof(beside) / sizeof(beside[0]))

/* Statistics on demand and what they have, from their own table. */
struct key {
	const char *type, *name, *child, *doc;
};
#define ENDS                           \
	{                              \
		NULL, NULL, NULL, NULL \
	}
#define KEY(type, name, child, doc) {#type, #name, #child, doc},
#define KEYS_OF(NAME, id, ...)      static const struct key keys_of_##id[] = {MG_DEMAND_##id(KEY) ENDS};
#define KEYS_OF_OBJECT(name, doc)   KEYS_OF(, name, )
MG_DEMAND_STATISTICS(KEYS_OF)
MG_DEMAND_OBJECTS(KEYS_OF_OBJECT)

#define STATISTIC(NAME, id, name, layers, pairs, takes, parameters, doc, title) \
	{#id, title, keys_of_##id, layers, pairs},
#define OBJECT(name, doc)                                                 {#name, doc, keys_of_##name, 0, 0},
#define ASKED(NAME, id, name, layers, pairs, takes, parameters, doc, ...) {name, doc, parameters},
#define ASKED_WHOLE(NAME, id, name, of, takes, parameters, doc)           {name, doc, parameters},
#define WHOLE(NAME, id, ...)                                              #id,
static const struct demanded {
	const char *name, *doc;
	const struct key *key;
	bool layers, pairs; /* it has rows for each of them */
} demanded[] = {MG_DEMAND_STATISTICS(STATISTIC) MG_DEMAND_OBJECTS(OBJECT)};
#define DEMANDED (sizeof(demanded) / sizeof(demanded[0]))

/* Names by which they are asked for, and their parameters. */
static const struct {
	const char *name, *doc, *parameters;
} asked[] = {MG_DEMAND_STATISTICS(ASKED) MG_DEMAND_WHOLE(ASKED_WHOLE)};
static const char *const whole[] = {MG_DEMAND_WHOLE(WHOLE)};

/* Members of a row beside those of its statistic. */
static const struct key of_layer[] = {{"TEXT", "layer", "none", "layer"}, ENDS};
static const struct key of_pair[] = {{"TEXT", "from", "none", "first layer of the pair"},
	{"TEXT", "to", "none", "second layer"}, ENDS};
static const struct key of_row[] = {
	{"NUMBER", "coverage", "none", "share of the bytes that were seen there"},
	{"NUMBER", "time_coverage", "none", "share of the time in which nothing is missing there"},
	{"FLAG", "starred", "none", "whether one of them is below 99 %"},
	{"TEXT", "refused", "none", "why the row's other values are null, if they are"}, ENDS};

/* ---- the page ---- */

static void text(const char *s)
{
	if (*s == '.' || *s == '\'')
		fputs("\\&", stdout);
	for (; *s; s++)
		if (*s == '\\')
			fputs("\\e", stdout);
		else
			putchar(*s);
	putchar('\n');
}

/* Figures in which two recordings may be compared. */
#define COMPARED(scope, row, figure, words, what, unit, sums, ...) {#scope, #row, figure, words},
static const struct {
	const char *scope, *row, *name, *words;
} compared[] = {MG_COMPARED(COMPARED)};

static void comparison(const struct scope *s, const struct figure *g)
{
	for (size_t i = 0; i < sizeof(compared) / sizeof(compared[0]); i++)
		if (strcmp(s->name, compared[i].scope) == 0 &&
			strcmp(g->name, compared[i].row) == 0)
			printf(".br\nCompared with\n.Fl -against\nas %s, in the text:\n"
			       "%s.\n",
				compared[i].name, compared[i].words);
}

static void entry(const struct scope *s, const struct figure *g)
{
	static const char *const types[] = {[FIGURE_COUNT] = "number",
		[FIGURE_SIGNED] = "number",
		[FIGURE_NUMBER] = "number",
		[FIGURE_TEXT] = "text",
		[FIGURE_FLAG] = "true or false",
		[FIGURE_ANY] = "object or list",
		[FIGURE_OBJECT] = "object:",
		[FIGURE_LIST] = "list of:",
		[FIGURE_WORDS] = "object of numbers",
		[FIGURE_TEXTS] = "list of texts"};

	if (g->type == FIGURE_PART) {
		printf(".It and those of %s%s%s\n", g->child->name, g->known->always ? "" : ", if ",
			g->known->always ? "" : g->known->when);
		return;
	}
	printf(".It Va %s No \\&(%s%s%s%s%s)\n", g->name, types[g->type], g->child ? " " : "",
		g->child ? g->child->name : "", g->unit ? ", " : "", unit_names[g->unit]);
	text(g->doc);
	for (int i = 0; i < g->words_n; i++)
		printf("%s%s%s", i ? ", " : ".br\n", g->words[i], i + 1 < g->words_n ? "" : "\n");
	if (g->known->when) {
		puts(".br");
		printf("Known if %s.\n", g->known->when);
	}
	comparison(s, g);
}

static void members_beside(const struct scope *s)
{
	for (const struct beside *b = beside; b < beside + BESIDES; b++)
		if (strcmp(b->scope, s->name) == 0)
			printf(".It Va %s No \\&(%s %s)\nThere %s%s.\n", b->name,
				b->is_list ? "list of:" : "object:", b->child,
				b->when ? "if " : "always", b->when ? b->when : "");
}

static void keys(const struct key *k)
{
	for (; k->name; k++) {
		bool has_child = strcmp(k->child, "none") != 0;

		printf(".It Va %s No \\&(%s%s%s)\n", k->name,
			strcmp(k->type, "TEXT") == 0   ? "text"
			: strcmp(k->type, "FLAG") == 0 ? "true or false"
			: strcmp(k->type, "LIST") == 0 ? has_child ? "list of: " : "list of numbers"
			: strcmp(k->type, "OBJECT") == 0 ? "object: "
							 : "number",
			has_child ? "demand_" : "", has_child ? k->child : "");
		text(k->doc);
	}
}

static void demanded_page(const struct demanded *d)
{
	bool is_row = d->layers || d->pairs;

	printf(".Ss demand_%s\n%s%s%s%s.\n.Bl -tag -width Ds\n", d->name, d->doc,
		d->layers ? "; a row of the list layers" : "", d->layers && d->pairs ? ", and" : "",
		d->pairs ? "; a row of the list pairs" : "");
	if (d->layers)
		keys(of_layer);
	if (d->pairs)
		keys(of_pair);
	keys(d->key);
	if (is_row)
		keys(of_row);
	puts(".El");
}

static void statistics(void)
{
	puts(".Ss on_demand\nStatistics for the option\n.Fl -on-demand\nof\n"
	     ".Xr magnet-report 1 ,\nwith their parameters.\n.Bl -tag -width Ds");
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		printf(".It Cm %s\n", asked[i].name);
		text(asked[i].doc);
		if (asked[i].parameters)
			printf(".br\nParameters: %s.\n", asked[i].parameters);
	}
	puts(".El");
}

static void page(void)
{
	fputs(head, stdout);
	for (size_t i = SCOPES; i-- > 0;) {
		printf(".Ss %s\n", scopes[i]->name);
		printf("%s.\n.Bl -tag -width Ds\n", scopes[i]->doc);
		for (int k = 0; k < scopes[i]->figures; k++)
			entry(scopes[i], &scopes[i]->figure[k]);
		members_beside(scopes[i]);
		puts(".El");
	}
	statistics();
	for (size_t i = 0; i < DEMANDED; i++)
		demanded_page(&demanded[i]);
	fputs(tail, stdout);
}

/* ---- the schema ---- */

static void quoted(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putchar('\\');
		putchar(*s);
	}
	putchar('"');
}

static bool may_be_null(const struct figure *g)
{
	return g->type != FIGURE_WORDS && (!g->known->always || g->type == FIGURE_NUMBER);
}

static void kind(const struct figure *g)
{
	static const char *const types[] = {[FIGURE_COUNT] = "integer",
		[FIGURE_SIGNED] = "integer",
		[FIGURE_NUMBER] = "number",
		[FIGURE_TEXT] = "string",
		[FIGURE_FLAG] = "boolean"};
	const char *null = may_be_null(g) ? ", \"null\"" : "";

	switch (g->type) {
	case FIGURE_ANY: /* on_demand */
		printf(", \"$ref\": \"#/$defs/on_demand\"");
		break;
	case FIGURE_OBJECT:
		printf(", \"anyOf\": [{\"$ref\": \"#/$defs/%s\"}%s]", g->child->name,
			*null ? ", {\"type\": \"null\"}" : "");
		break;
	case FIGURE_LIST:
		printf(", \"type\": [\"array\"%s], \"items\": {\"$ref\": \"#/$defs/%s\"}", null,
			strcmp(g->child->name, "flow") == 0 ? "any_flow" : g->child->name);
		break;
	case FIGURE_WORDS:
		printf(", \"type\": \"object\", \"additionalProperties\": {\"type\": [\"number\", "
		       "\"null\"]}");
		break;
	case FIGURE_TEXTS:
		printf(", \"type\": [\"array\"%s], \"items\": {\"type\": \"string\"}", null);
		break;
	default:
		printf(", \"type\": [\"%s\"%s]", types[g->type], null);
		if (g->type == FIGURE_COUNT)
			printf(", \"minimum\": 0");
	}
}

/* Prints the members of a scope, those of its parts among them. */
static void properties(const struct scope *s, const char **comma)
{
	for (int i = 0; i < s->figures; i++) {
		const struct figure *g = &s->figure[i];

		if (g->type == FIGURE_PART) {
			properties(g->child, comma);
			continue;
		}
		printf("%s\n        \"%s\": {\"description\": ", *comma, g->name);
		quoted(g->doc);
		kind(g);
		putchar('}');
		*comma = ",";
	}
}

/* Prints the names of members that are always there. */
static void required(const struct scope *s, const char **comma)
{
	for (int i = 0; i < s->figures; i++) {
		const struct figure *g = &s->figure[i];

		if (g->type == FIGURE_PART && g->known->always)
			required(g->child, comma);
		if (g->type == FIGURE_PART)
			continue;
		printf("%s\"%s\"", *comma, g->name);
		*comma = ", ";
	}
}

static void definition(const struct scope *s)
{
	const char *comma = "";

	printf("    \"%s\": {\n      \"type\": \"object\", \"description\": ", s->name);
	quoted(s->doc);
	printf(",\n      \"properties\": {");
	properties(s, &comma);
	for (const struct beside *b = beside; b < beside + BESIDES; b++)
		if (strcmp(b->scope, s->name) == 0)
			printf(b->is_list ? ",\n        \"%s\": {\"type\": \"array\", \"items\": "
					    "{\"$ref\": \"#/$defs/%s\"}}"
					  : ",\n        \"%s\": {\"$ref\": \"#/$defs/%s\"}",
				b->name, b->child);
	printf("\n      },\n      \"required\": [");
	comma = "";
	required(s, &comma);
	printf("],\n      \"additionalProperties\": false\n    },\n");
}

/* Members of flows in brief, which are on one line (magnet-report(1)). */
#define IN_BRIEF(name, which) {#name, #which},
#define OTHER_IN_BRIEF(name)  IN_BRIEF(name, EACH)
static const struct {
	const char *name, *which;
} in_brief[] = {MG_FLOW_IN_BRIEF(IN_BRIEF, OTHER_IN_BRIEF)};
#define IN_BRIEFS (sizeof(in_brief) / sizeof(in_brief[0]))

static void flow_in_brief(void)
{
	const char *comma = "";

	printf("    \"flow_in_brief\": {\n      \"type\": \"object\",\n"
	       "      \"properties\": {");
	for (size_t i = 0; i < IN_BRIEFS; i++) {
		const struct figure *g = figure_of(&scope_flow, in_brief[i].name);

		printf("%s\n        \"%s\": {\"description\": ", comma, g->name);
		quoted(g->doc);
		if (g->type == FIGURE_LIST || g->type == FIGURE_OBJECT)
			printf(", \"type\": \"%s\"", g->type == FIGURE_LIST ? "array" : "object");
		else
			kind(g);
		putchar('}');
		comma = ",";
	}
	printf("\n      },\n      \"required\": [");
	comma = "";
	for (size_t i = 0; i < IN_BRIEFS; i++) {
		if (strcmp(in_brief[i].which, "EACH") != 0)
			continue;
		printf("%s\"%s\"", comma, in_brief[i].name);
		comma = ", ";
	}
	printf("],\n      \"additionalProperties\": false\n    },\n");
}

/* Only a flow in full says something of TCP. */
static const char any_flow[] =
	"    \"any_flow\": {\"if\": {\"required\": [\"tcp\"]}, \"then\": {\"$ref\": "
	"\"#/$defs/flow\"},\n"
	"      \"else\": {\"$ref\": \"#/$defs/flow_in_brief\"}}\n";

static void key_types(const struct key *k, const char **comma)
{
	for (; k->name; k++) {
		bool has_child = strcmp(k->child, "none") != 0;

		printf("%s\n        \"%s\": {\"description\": ", *comma, k->name);
		*comma = ",";
		quoted(k->doc);
		if (strcmp(k->type, "OBJECT") == 0)
			printf(", \"anyOf\": [{\"$ref\": \"#/$defs/demand_%s\"}, {\"type\": "
			       "\"null\"}]}",
				k->child);
		else if (strcmp(k->type, "LIST") == 0 && has_child)
			printf(", \"type\": [\"array\", \"null\"], \"items\": {\"$ref\": "
			       "\"#/$defs/demand_%s\"}}",
				k->child);
		else if (strcmp(k->type, "LIST") == 0)
			printf(", \"type\": [\"array\", \"null\"], \"items\": {\"type\": "
			       "[\"number\", \"null\"]}}");
		else
			printf(", \"type\": [\"%s\", \"null\"]}",
				strcmp(k->type, "COUNT") == 0  ? "integer"
				: strcmp(k->type, "TEXT") == 0 ? "string"
				: strcmp(k->type, "FLAG") == 0 ? "boolean"
							       : "number");
	}
}

/* Prints what a row, or another object of a statistic, has. */
static void demanded_schema(const struct demanded *d)
{
	const char *comma = "";
	bool is_row = d->layers || d->pairs;

	printf("    \"demand_%s\": {\n      \"type\": \"object\", \"description\": ", d->name);
	quoted(d->doc);
	printf(",\n      \"properties\": {");
	if (d->layers)
		key_types(of_layer, &comma);
	if (d->pairs)
		key_types(of_pair, &comma);
	key_types(d->key, &comma);
	if (is_row)
		key_types(of_row, &comma);
	printf("\n      },\n      \"additionalProperties\": false");
	if (is_row) { /* where it is refused they are null */
		printf(",\n      \"required\": [");
		for (const struct key *k = d->key; k->name; k++)
			printf("\"%s\", ", k->name);
		printf("\"coverage\", \"time_coverage\", \"starred\", \"refused\"]");
	}
	printf("\n    },\n");
}

static void rows_of(const struct demanded *d)
{
	static const char list[] = "\"%s\": {\"type\": \"array\", \"items\": {\"$ref\": "
				   "\"#/$defs/demand_%s\"}}";

	printf(",\n        \"%s\": {\"type\": \"object\", \"properties\": {", d->name);
	if (d->layers)
		printf(list, "layers", d->name);
	if (d->layers && d->pairs)
		printf(", ");
	if (d->pairs)
		printf(list, "pairs", d->name);
	printf("}, \"additionalProperties\": false}");
}

/* Prints the object of all statistics that were asked for. */
static void on_demand(void)
{
	const char *comma = "";

	printf("    \"on_demand\": {\n      \"type\": \"object\",\n      \"properties\": {");
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		printf("%s\n        \"%s\": {\"$ref\": \"#/$defs/demand_%s\"}", comma, whole[i],
			whole[i]);
		comma = ",";
	}
	for (const struct demanded *d = demanded; d < demanded + DEMANDED; d++)
		if (d->layers || d->pairs)
			rows_of(d);
	printf("\n      },\n      \"additionalProperties\": false\n    },\n");
}

static void schema(void)
{
	puts("{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
	     "  \"title\": \"magnet report --json\",\n"
	     "  \"$ref\": \"#/$defs/report\",\n  \"$defs\": {");
	for (size_t i = 0; i < SCOPES; i++)
		definition(scopes[i]);
	for (size_t i = 0; i < DEMANDED; i++)
		demanded_schema(&demanded[i]);
	on_demand();
	flow_in_brief();
	fputs(any_flow, stdout);
	puts("  }\n}");
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "schema") == 0)
		schema();
	else
		page();
	return fflush(stdout) != 0 || ferror(stdout);
}
