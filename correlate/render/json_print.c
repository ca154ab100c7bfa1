/* SPDX-License-Identifier: MIT */
/* The report as JSON, printed a flow at a time: all at once would take a hundred times their
 * memory. */
#define _GNU_SOURCE
#include <string.h>

#include "report.h"

struct indented {
	FILE *to;
	int spaces;
};

/* Strings have no line ends in them: JSON escapes those. */
static int write_indented(const char *text, size_t size, void *arg)
{
	struct indented *i = arg;

	while (size) {
		const char *end = memchr(text, '\n', size);
		size_t n = end ? (size_t)(end - text) + 1 : size;

		if (fwrite_unlocked(text, 1, n, i->to) != n)
			return -1;
		if (end)
			fprintf(i->to, "%*s", i->spaces, "");
		text += n;
		size -= n;
	}
	return 0;
}

static void print_value(const json_t *v, int spaces, int digits, FILE *to)
{
	struct indented i = {.to = to, .spaces = spaces};

	json_dump_callback(v, write_indented, &i,
		JSON_INDENT(2) | JSON_REAL_PRECISION(digits) | JSON_ENCODE_ANY);
}

/* Of more flows the largest of so many are given whole, and those something happened to. */
#define WHOLE_FLOWS 1000

static void print_many(const struct report *r, int digits, FILE *to)
{
	struct indented none = {.to = to};

	for (size_t i = 0; i < r->flow_count; i++) {
		const struct flow *f = report_flow(r, i);
		json_t *j;

		fputs(i ? ",\n" : "\n", to);
		if (i >= WHOLE_FLOWS && !r->demand && !flow_is_eventful(f)) {
			json_brief(r, f, to);
			continue;
		}
		j = json_flow(r, f);
		json_dump_callback(
			j, write_indented, &none, JSON_COMPACT | JSON_REAL_PRECISION(digits));
		json_decref(j);
	}
}

static void print_flows(const struct report *r, int digits, FILE *to)
{
	fprintf(to, "[");
	if (r->flow_count > WHOLE_FLOWS && !r->whole_flows)
		print_many(r, digits, to);
	for (size_t i = 0; i < r->flow_count && (r->flow_count <= WHOLE_FLOWS || r->whole_flows);
		i++) {
		json_t *j = json_flow(r, report_flow(r, i));

		fprintf(to, "%s\n    ", i ? "," : "");
		print_value(j, 4, digits, to);
		json_decref(j);
	}
	fprintf(to, "%s]", r->flow_count ? "\n  " : "");
}

void report_json_print(const struct report *r, const char *key, json_t *more, int digits, FILE *to)
{
	json_t *j = report_json(r, REPORT_NO_FLOWS), *v;
	const char *name;
	bool first = true;

	if (more)
		json_object_set_new(j, key, more);
	fprintf(to, "{");
	json_object_foreach (j, name, v) {
		fprintf(to, "%s\n  \"%s\": ", first ? "" : ",", name);
		if (strcmp(name, "flows") == 0)
			print_flows(r, digits, to);
		else
			print_value(v, 2, digits, to);
		first = false;
	}
	fprintf(to, "\n}\n");
	json_decref(j);
}
