/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "comparison.h"
#include "render/table.h"
#include "render/text.h"

#define ALONE_SHOWN 8

/* Formats a value; returns one of a few static buffers. */
static const char *value(double v, enum figure_unit unit)
{
	static char buffer[8][32];
	static int next;
	char *out = buffer[next++ % 8];

	switch (unit) {
	case UNIT_NS:
		return text_ns(v);
	case UNIT_SHARE:
		return text_percent(v);
	case UNIT_BYTES_PER_S:
		snprintf(out, 32, "%s/s", text_bytes(v));
		return out;
	default:
		snprintf(out, 32, "%.3g", v);
		return out;
	}
}

/* Formats a difference with its sign. */
static const char *change(double v, enum figure_unit unit)
{
	static char buffer[8][40];
	static int next;
	char *out = buffer[next++ % 8];

	snprintf(out, 40, "%c%s", v < 0 ? '-' : '+', value(fabs(v), unit));
	return out;
}

static const char *ratio(double r)
{
	static char buffer[4][32];
	static int next;
	char *out = buffer[next++ % 4];

	if (isnan(r))
		return "n/a";
	snprintf(out, 32, r >= 1000 ? "%.0f" : r >= 10 ? "%.1f" : "%.3f", r);
	return out;
}

static const char *figure_name(const struct compared *r)
{
	return r->reason ? r->reason : r->stage ? r->stage : r->figure;
}

static void row(struct table *t, const struct compared *r)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%s",
		r->reason  ? "    "
		: r->stage ? "  "
			   : "",
		figure_name(r));
	if (r->verdict == NOT_ENOUGH)
		table_row(t, "    %s\t%s\t%s\t%s\ttoo few samples\t%s\t", name,
			value(r->before_value, r->unit), value(r->now_value, r->unit),
			change(r->difference, r->unit), ratio(r->ratio));
	else
		table_row(t, "    %s\t%s\t%s\t%s\t%s ... %s\t%s\t%s", name,
			value(r->before_value, r->unit), value(r->now_value, r->unit),
			change(r->difference, r->unit), change(r->low, r->unit),
			change(r->high, r->unit), ratio(r->ratio),
			r->verdict == EXCEEDS_NOISE ? "*" : "");
}

/* Returns how many half widths of the interval the difference is away from 0. */
static double clearness(const struct compared *r)
{
	return fabs(r->difference) / fmax((r->high - r->low) / 2, 1e-12 * fabs(r->difference));
}

/*
 * Returns the clearest difference that exceeds the noise: among the headline figures if any does,
 * else among all.
 */
static const struct compared *foremost(const struct comparison *c)
{
	const struct compared *most = NULL;

	for (size_t i = 0; i < c->rows; i++) {
		const struct compared *r = &c->row[i];

		if (r->verdict != EXCEEDS_NOISE)
			continue;
		if (!most || r->is_headline > most->is_headline ||
			(r->is_headline == most->is_headline && clearness(r) > clearness(most)))
			most = r;
	}
	return most;
}

static void sentence(const struct comparison *c, FILE *to)
{
	const struct compared *r = foremost(c);
	size_t enough = c->rows - c->not_enough;
	char name[80];

	fprintf(to, "\nSummary: ");
	if (!enough) {
		fprintf(to,
			"too few samples in both recordings to tell a difference from noise.\n");
		return;
	}
	if (!r) {
		fprintf(to, "none of %zu figure%s differs by more than the noise.\n", enough,
			plural(enough));
		return;
	}
	fprintf(to,
		"%zu of %zu figure%s differ%s by more than the noise (about %.0f by chance alone"
		");\n",
		c->exceeding, enough, plural(enough), c->exceeding == 1 ? "s" : "",
		ceil((1 - COMPARISON_LEVEL) * (double)enough));
	subject_name(name, &r->now->key);
	fprintf(to, "the clearest: %s%s of %s, from %s to %s (%s).\n",
		r->reason  ? "wait in the send buffer for "
		: r->stage ? "residence "
			   : "",
		figure_name(r), name, value(r->before_value, r->unit), value(r->now_value, r->unit),
		change(r->difference, r->unit));
}

static void alone(const struct subject *const *s, size_t n, const char *where, FILE *to)
{
	char name[80];

	for (size_t i = 0; i < n && i < ALONE_SHOWN; i++) {
		subject_name(name, &s[i]->key);
		fprintf(to, "only %s: %s\n", where, name);
	}
	if (n > ALONE_SHOWN)
		fprintf(to, "only %s: %zu more\n", where, n - ALONE_SHOWN);
}

static bool has_residence(const struct comparison *c)
{
	for (size_t i = 0; i < c->rows; i++)
		if (c->row[i].stage)
			return true;
	return false;
}

/*
 * Returns whether the subject has a row that can be shown; what happens only a few times, such as
 * connect(), has none.
 */
static bool is_printed(const struct comparison *c, const struct subject *s)
{
	for (size_t i = 0; i < c->rows; i++)
		if (c->row[i].now == s && c->row[i].verdict != NOT_ENOUGH)
			return true;
	return false;
}

static void unprinted(const struct comparison *c, FILE *to)
{
	const struct subject *last = NULL;
	const char *before = "too few samples: ";
	char name[80];

	for (size_t i = 0; i < c->rows; i++) {
		if (c->row[i].now == last || is_printed(c, c->row[i].now))
			continue;
		last = c->row[i].now;
		subject_name(name, &last->key);
		fprintf(to, "%s%s", before, name);
		before = ", ";
	}
	if (last)
		fprintf(to, "\n");
}

static void recording(const char *what, const struct report *r, const char *name, FILE *to)
{
	const char *command = json_string_value(json_object_get(r->session, "command"));

	fprintf(to, "%-7s %s   %s   %s\n", what, text_plain(name, 60),
		text_plain(command ? command : "", 60), text_ns(report_duration_ns(r)));
}

void comparison_text(const struct comparison *c, const struct recording *now,
	const struct recording *before, const char *before_name, FILE *to, bool colour)
{
	const struct subject *last = NULL;
	struct table t;
	char name[80];

	recording("before", before->report, before_name, to);
	recording("now", now->report, now->report->source, to);
	sentence(c, to);
	fprintf(to, "\n");
	table_begin(&t, "lrrrrrl");
	table_row(&t, "\tbefore\tnow\tdifference\t%.0f %% interval of it\tratio\t",
		COMPARISON_LEVEL * 100);
	for (size_t i = 0; i < c->rows; i++) {
		if (!is_printed(c, c->row[i].now))
			continue;
		if (c->row[i].now != last) {
			last = c->row[i].now;
			subject_name(name, &last->key);
			table_row(&t, "  %s", name);
		}
		row(&t, &c->row[i]);
	}
	table_print(&t, to, 0, colour);
	if (c->exceeding)
		fprintf(to,
			"  * exceeds the noise within the recordings: 0 is not in the interval\n");
	if (has_residence(c))
		fprintf(to, "  residence times are as measured, tracing overhead included\n");
	unprinted(c, to);
	alone(c->only_before, c->only_before_n, "before", to);
	alone(c->only_now, c->only_now_n, "now", to);
	if (now->sampling->left_out || before->sampling->left_out)
		fprintf(to, "more kinds of flows than can be compared\n");
}
