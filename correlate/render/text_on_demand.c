/* SPDX-License-Identifier: MIT */
/*
 * Prints statistics on demand as tables from the objects that JSON shows: one row per layer or pair
 * of layers, or, where a statistic is a curve, one column each.
 */
#include <math.h>
#include <string.h>

#include "text.h"

enum format { COUNT, NUMBER, SHARE, NS, MS, BYTES, BIT_S, HZ, TIMES };

struct column {
	const char *title, *key; /* key in the row: "units.mean" is in an object */
	enum format format;
	const char *at_least; /* key that says the value is a lower bound */
};

struct curve {
	const char *list, *index, *index_title, *value;
	enum format index_format, format;
	const char *at_least;
};

#define COLUMNS_MAX                              8
#define SHOWN(NAME, rows, title, columns, curve) {DEMAND_##NAME, #rows, title, columns, curve},
static const struct shown {
	enum demand_figure figure;
	const char *rows, *title;
	struct column columns[COLUMNS_MAX];
	struct curve curve;
} figures[] = {MG_DEMAND_TABLES(SHOWN)};
#define FIGURES (sizeof(figures) / sizeof(figures[0]))

static const char *bit_s(double v)
{
	static char text[8][32];
	static const char *const units[] = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s"};
	static int next;
	char *out = text[next++ % 8];
	int u = 0;

	for (; v >= 9999.5 && u < 3; u++)
		v /= 1000;
	snprintf(out, 32, "%.*f %s", v < 100 && u ? 2 : 0, v, units[u]);
	return out;
}

static void cell(char out[CELL_SIZE], const json_t *v, enum format format)
{
	double number = json_number_value(v);
	const char *text = NULL;

	if (json_is_string(v))
		text = json_string_value(v);
	else if (!json_is_number(v))
		text = "n/a";
	else if (format == COUNT)
		text = text_count((uint64_t)llround(number));
	else if (format == SHARE)
		text = text_percent(number);
	else if (format == NS || format == MS)
		text = text_ns(format == MS ? number * 1e6 : number);
	else if (format == BYTES)
		text = text_bytes(number);
	else if (format == BIT_S)
		text = bit_s(number);
	if (text)
		snprintf(out, CELL_SIZE, "%s", text);
	else if (format == HZ)
		snprintf(out, CELL_SIZE, "%.4g Hz", number);
	else if (format == TIMES)
		snprintf(out, CELL_SIZE, "%.2f", number);
	else
		snprintf(out, CELL_SIZE, "%.3f", number);
}

static const json_t *value(const json_t *row, const char *key)
{
	const char *dot = strchr(key, '.');
	char first[32];

	if (!dot)
		return json_object_get(row, key);
	snprintf(first, sizeof(first), "%.*s", (int)(dot - key), key);
	return json_object_get(json_object_get(row, first), dot + 1);
}

static const char *label(const json_t *row)
{
	static char text[8][CELL_SIZE];
	static int next;
	char *out = text[next++ % 8];
	const char *layer = json_string_value(json_object_get(row, "layer"));
	const char *star = json_is_true(json_object_get(row, "starred")) ? " *" : "";

	if (layer)
		snprintf(out, CELL_SIZE, "%s%s", layer, star);
	else
		snprintf(out, CELL_SIZE, "%s%s%s%s",
			json_string_value(json_object_get(row, "from")), text_arrow(),
			json_string_value(json_object_get(row, "to")), star);
	return out;
}

static void put(struct table *t, int row, int column, const json_t *from, const json_t *v,
	enum format format, const char *at_least)
{
	char text[CELL_SIZE];
	bool more = at_least && json_is_true(json_object_get(from, at_least)) && json_is_number(v);

	cell(text, v, format);
	snprintf(t->cell[row][column], CELL_SIZE, "%s%.70s", more ? ">= " : "", text);
}

static bool refused(const json_t *row)
{
	return json_is_string(json_object_get(row, "refused"));
}

static void values_table(const struct shown *s, const json_t *rows, FILE *to)
{
	struct table t;
	size_t i;
	json_t *row;

	table_begin(&t, "lrrrrrrrr");
	table_row(&t, "%s", "");
	for (int c = 0; c < COLUMNS_MAX && s->columns[c].title; c++)
		snprintf(t.cell[0][c + 1], CELL_SIZE, "%s", s->columns[c].title);
	json_array_foreach (rows, i, row) {
		if (refused(row))
			continue;
		table_row(&t, "%s", label(row));
		for (int c = 0; c < COLUMNS_MAX && s->columns[c].title; c++)
			put(&t, t.rows - 1, c + 1, row, value(row, s->columns[c].key),
				s->columns[c].format, s->columns[c].at_least);
	}
	table_print(&t, to, 4, false);
}

/* Prints a line for each point of the longest curve; shorter ones end before. */
static void curve_table(const struct curve *s, const json_t *rows, FILE *to)
{
	const json_t *longest = NULL;
	struct table t;
	size_t i, k;
	json_t *row;
	int column = 0;

	table_begin(&t, "rrrrrrrrrrrr");
	table_row(&t, "%s", s->index_title);
	json_array_foreach (rows, i, row) {
		const json_t *list = json_object_get(row, s->list);

		if (json_array_size(list) > json_array_size(longest))
			longest = list;
	}
	for (k = 0; k < json_array_size(longest); k++) {
		char text[CELL_SIZE];

		cell(text, json_object_get(json_array_get(longest, k), s->index), s->index_format);
		table_row(&t, "%s", text);
	}
	json_array_foreach (rows, i, row) {
		const json_t *list = json_object_get(row, s->list);

		if (refused(row) || ++column >= TABLE_COLUMNS)
			continue;
		snprintf(t.cell[0][column], CELL_SIZE, "%s", label(row));
		for (k = 0; k < json_array_size(list); k++)
			put(&t, (int)k + 1, column, row,
				json_object_get(json_array_get(list, k), s->value), s->format,
				s->at_least);
	}
	table_print(&t, to, 4, false);
}

static const char *reason(const json_t *row, const char *key)
{
	return json_string_value(json_object_get(row, key));
}

/* Prints why a statistic is refused, and for which rows unless for all. */
static void refusal(const json_t *rows, const char *key, const char *why, FILE *to)
{
	const char *comma = "";
	size_t k, n = 0;
	json_t *row;

	json_array_foreach (rows, k, row) {
		n += reason(row, key) && strcmp(reason(row, key), why) == 0;
	}
	if (n == json_array_size(rows))
		return;
	json_array_foreach (rows, k, row) {
		if (!reason(row, key) || strcmp(reason(row, key), why) != 0)
			continue;
		fprintf(to, "%s%s", comma, label(row));
		comma = ", ";
	}
	fprintf(to, ": ");
}

/* Prints each reason once. */
static void refusals(const json_t *rows, const char *key, const char *what, FILE *to)
{
	size_t i;
	json_t *row;

	json_array_foreach (rows, i, row) {
		const char *why = reason(row, key);
		bool printed = !why;

		for (size_t k = 0; k < i && !printed; k++) {
			const char *before = reason(json_array_get(rows, k), key);

			printed = before && strcmp(before, why) == 0;
		}
		if (printed)
			continue;
		fprintf(to, "    %s: ", what);
		refusal(rows, key, why, to);
		fprintf(to, "%s\n", why);
	}
}

static bool any(const json_t *rows)
{
	size_t i;
	json_t *row;

	json_array_foreach (rows, i, row) {
		if (!refused(row))
			return true;
	}
	return false;
}

static void show(const struct shown *s, const json_t *figure, FILE *to)
{
	const json_t *rows = json_object_get(figure, s->rows);

	fprintf(to, "  %s\n", s->title);
	if (any(rows) && s->columns[0].title)
		values_table(s, rows, to);
	if (any(rows) && s->curve.list)
		curve_table(&s->curve, rows, to);
	refusals(rows, "refused", "not available", to);
	if (s->figure == DEMAND_VARIANCE_TIME && any(rows))
		refusals(rows, "H_refused", "no H", to);
}

static void goodput(const json_t *g, FILE *to)
{
	const char *why = json_string_value(json_object_get(g, "refused"));

	if (why)
		fprintf(to, "  Goodput ratio: not available: %s\n", why);
	else
		fprintf(to, "  Goodput ratio %s: %s delivered in %s of frames; %s\n",
			text_coverage(json_number_value(json_object_get(g, "ratio"))),
			text_bytes(json_number_value(json_object_get(g, "delivered_bytes"))),
			text_bytes(json_number_value(json_object_get(g, "wire_bytes"))),
			bit_s(json_number_value(json_object_get(g, "rate_bit_s"))));
}

void text_on_demand(const struct report *r, const struct fact_flow *f, FILE *to, bool colour)
{
	json_t *j;

	if (!(r->demand->figures & ~DEMAND_OF_ALL))
		return;
	j = demand_of_flow(r, f);
	fprintf(to, "\n%sOn demand, flow %s%s\n", colour ? "\033[1m" : "", flow_id(f->flow),
		colour ? "\033[0m" : "");
	for (size_t i = 0; i < FIGURES; i++) {
		const json_t *figure = json_object_get(j, demand_key(figures[i].figure));

		if (figure)
			show(&figures[i], figure, to);
	}
	if (r->demand->figures & 1u << DEMAND_GOODPUT)
		goodput(json_object_get(j, demand_key(DEMAND_GOODPUT)), to);
	json_decref(j);
}

void text_on_demand_of_all(const struct report *r, FILE *to, bool colour)
{
	json_t *all, *jain;

	if (!(r->demand->figures & 1u << DEMAND_JAIN))
		return;
	all = demand_of_all(r);
	jain = json_object_get(all, demand_key(DEMAND_JAIN));
	fprintf(to, "\n%sFairness (Jain)%s\n", colour ? "\033[1m" : "", colour ? "\033[0m" : "");
	for (int rx = 0; rx < 2; rx++) {
		const json_t *j = json_object_get(jain, rx ? "rx" : "tx");
		const char *why = json_string_value(json_object_get(j, "refused"));

		fprintf(to, "  %s: ", rx ? "received" : "sent");
		if (why)
			fprintf(to, "not available: %s\n", why);
		else
			fprintf(to, "%.4f among %lld flows, between %.6f s and %.6f s\n",
				json_number_value(json_object_get(j, "index")),
				(long long)json_integer_value(json_object_get(j, "n")),
				json_number_value(json_object_get(j, "from_s")),
				json_number_value(json_object_get(j, "to_s")));
	}
	json_decref(all);
}
