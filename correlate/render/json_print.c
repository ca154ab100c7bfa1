/* SPDX-License-Identifier: MIT */
/*
 * Prints the report as JSON flow by flow: the whole tree would take a hundred times the memory of
 * the flows.
 */
#define _GNU_SOURCE
#include <string.h>

#include "report.h"

struct indented {
	FILE *to;
	int spaces;
};

/* Indents after each newline; strings contain none, as JSON escapes them. */
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
		JSON_INDENT(2) | JSON_REAL_PRECISION(digits) | JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
}

/*
 * Number of flows that are written in full: the largest ones; of the others only those with losses
 * and the like.
 */
#define WHOLE_FLOWS 1000

static void print_many(const struct report *r, int digits, FILE *to)
{
	struct indented none = {.to = to};

	for (size_t i = 0; i < r->flow_count; i++) {
		const struct fact_flow *f = report_flow(r, i);
		json_t *j;

		fputs(i ? ",\n" : "\n", to);
		if (i >= WHOLE_FLOWS && !r->demand && !flow_is_eventful(f)) {
			json_brief(r, f, to);
			continue;
		}
		j = json_flow(r, f);
		json_dump_callback(j, write_indented, &none,
			JSON_COMPACT | JSON_REAL_PRECISION(digits) | JSON_ENSURE_ASCII);
		json_decref(j);
	}
}

static void print_flows(const struct report *r, int spaces, int digits, FILE *to)
{
	fprintf(to, "[");
	if (r->flow_count > WHOLE_FLOWS && !r->whole_flows)
		print_many(r, digits, to);
	for (size_t i = 0; i < r->flow_count && (r->flow_count <= WHOLE_FLOWS || r->whole_flows);
		i++) {
		json_t *j = json_flow(r, report_flow(r, i));

		fprintf(to, "%s\n%*s", i ? "," : "", spaces + 2, "");
		print_value(j, spaces + 2, digits, to);
		json_decref(j);
	}
	if (r->flow_count)
		fprintf(to, "\n%*s", spaces, "");
	fprintf(to, "]");
}

static void print_key(const char *key, bool first, int spaces, FILE *to)
{
	fprintf(to, "%s\n%*s\"%s\": ", first ? "" : ",", spaces, "", key);
}

/*
 * Prints the members of an object that others may follow; `r` has the flows, NULL if there are
 * none.
 */
static void print_members(const json_t *j, const struct report *r, int spaces, int digits, FILE *to)
{
	bool first = true;
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)(uintptr_t)j, key, v) {
		print_key(key, first, spaces, to);
		if (r && strcmp(key, "flows") == 0)
			print_flows(r, spaces, digits, to);
		else
			print_value(v, spaces, digits, to);
		first = false;
	}
}

static void print_report(
	const struct report *r, const struct json_beside *beside, int spaces, int digits, FILE *to)
{
	json_t *j = report_json(r, REPORT_NO_FLOWS);

	fprintf(to, "{");
	print_members(j, r, spaces + 2, digits, to);
	json_decref(j);
	if (beside) {
		print_key(beside->key, false, spaces + 2, to);
		fprintf(to, "{");
		print_members(beside->value, NULL, spaces + 4, digits, to);
		if (beside->other) {
			print_key("other", false, spaces + 4, to);
			print_report(beside->other, NULL, spaces + 4, digits, to);
		}
		fprintf(to, "\n%*s}", spaces + 2, "");
	}
	fprintf(to, "\n%*s}", spaces, "");
}

void report_json_print(
	const struct report *r, const struct json_beside *beside, int digits, FILE *to)
{
	print_report(r, beside, 0, digits, to);
	fprintf(to, "\n");
}
