/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "comparison.h"
#include "render/table.h"
#include "render/text.h"
#include "render/text_causes.h"

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
	const char *size = value(fabs(v), unit);

	/* 13 % to 6 % is 7 points less, but half of it */
	if (unit == UNIT_SHARE)
		snprintf(
			out, 40, "%c%.*s points", v < 0 ? '-' : '+', (int)strcspn(size, " "), size);
	else
		snprintf(out, 40, "%c%s", v < 0 ? '-' : '+', size);
	return out;
}

static const char *ratio(double r)
{
	static char buffer[4][32];
	static int next;
	char *out = buffer[next++ % 4];

	if (isnan(r))
		return "n/a";
	snprintf(out, 32, r >= 100 ? "%.0f" : r >= 10 ? "%.1f" : r >= 0.1 ? "%.2f" : "%.3f", r);
	return out;
}

/* Writes what the figure is, such as "latency: send buffer: Nagle's algorithm". */
static void figure_words(char out[200], const struct compared *r)
{
	snprintf(out, 200, "%s%s%s%s%s", r->words, r->stage ? ": " : "",
		r->stage ? r->stage_words : "", r->reason ? ": " : "",
		r->reason ? r->reason_words : "");
}

/* ---- the head ---- */

static void side(const char *what, const struct compared_side *s, FILE *to)
{
	const char *command = s->of[0].command;
	bool differ = false;
	size_t cut = 0;
	double sum = 0;

	for (size_t i = 0; i < s->n; i++)
		sum += s->of[i].duration_ns;
	fprintf(to, "%-7s %s   %s   ", what, text_plain(s->name, 60),
		text_plain(command ? command : "", 60));
	if (s->n > 1)
		fprintf(to, "%zu recordings of ", s->n);
	fprintf(to, "%s\n", text_ns(sum / (double)s->n));
	for (size_t i = 0; i < s->n; i++) {
		const char *other = s->of[i].command;

		differ |= command && other && strcmp(other, command) != 0;
		cut += s->of[i].cut_short;
	}
	if (differ)
		fprintf(to, "        not all of them are of this command%s\n",
			strcmp(what, "now") == 0 ? " (--against takes several, separated by commas)"
						 : "");
	if (cut)
		fprintf(to, "        a signal ended the command in %zu of them\n", cut);
}

/* Returns the congestion control of all recordings of a side; NULL if not known, or they differ. */
static const char *congestion(const struct compared_side *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (!s->of[i].congestion[0] ||
			strcmp(s->of[i].congestion, s->of[0].congestion) != 0)
			return NULL;
	return s->of[0].congestion;
}

/* Names what the recordings show of the sides' settings, if that differs. */
static void settings(const struct compared_side *now, const struct compared_side *before, FILE *to)
{
	const char *is = congestion(now), *was = congestion(before);

	if (is && was && strcmp(is, was) != 0)
		fprintf(to, "congestion control: %s before, %s now\n", text_plain(was, 16),
			text_plain(is, 16));
}

static void steal(const struct compared_side *now, const struct compared_side *before, FILE *to)
{
	double is, was;

	if (comparison_steal(now, before, &is, &was))
		fprintf(to,
			"the hypervisor took the CPUs for %s of the time before and %s now "
			"(steal): "
			"differences may come from that, so record again\n",
			text_percent(was), text_percent(is));
}

static void largest(const struct compared *r, FILE *to)
{
	char name[80], figure[200];

	figure_words(figure, r);
	subject_name(name, &r->key);
	fprintf(to, "The %s: %s of %s: from %s to %s (%s)%s.\n",
		r->verdict == NOT_ENOUGH ? "first difference in the table" : "largest difference",
		figure, name, value(r->before_value, r->unit), value(r->now_value, r->unit),
		change(r->difference, r->unit),
		r->verdict == NOT_ENOUGH ? "; how much of that is noise is not known" : "");
}

/* Says that there are too few recordings, and what to do. */
static void too_few(const struct compared_side *now, const struct compared_side *before, FILE *to)
{
	if (now->n == 1 || before->n == 1)
		fprintf(to, "one recording on %s side cannot tell",
			now->n == before->n ? "each" : "one");
	else
		fprintf(to, "%zu and %zu recordings are too few to tell", before->n, now->n);
	fprintf(to,
		" a change of the program from what the machine did meanwhile: the same program, "
		"recorded again, differs, too. Record each side several times (magnet record "
		"--repeat %d), and compare all of them.\n",
		ENOUGH_RECORDINGS);
}

/* Writes what the figures say, a paragraph a line. */
static void summary_words(const struct comparison *c, const struct compared_side *now,
	const struct compared_side *before, const struct compared *first, FILE *to)
{
	size_t enough = c->rows - c->not_enough;
	const char *noise = c->noise == NOISE_WITHIN
				    ? "than they vary within the recordings"
				    : "than the recordings of each side differ among themselves";

	fprintf(to, "Summary: ");
	if (!c->can_tell)
		too_few(now, before, to);
	if (c->noise == NOISE_BETWEEN && !c->can_tell)
		return;
	if (!enough) {
		fprintf(to, "too few samples in the recordings to tell a difference from noise.\n");
		return;
	}
	if (c->not_enough)
		fprintf(to,
			"%zu of the %zu figures %s enough samples to tell a difference from "
			"noise: ",
			enough, c->rows, enough == 1 ? "has" : "have");
	if (c->exceeding)
		fprintf(to, "%zu of %s %zu figure%s differ%s by more %s", c->exceeding,
			c->not_enough ? "these" : "the", enough, plural(enough),
			c->exceeding == 1 ? "s" : "", noise);
	else
		fprintf(to, "none of %s differs by more %s",
			c->not_enough ? "these" : "the figures", noise);
	if (c->noise == NOISE_BETWEEN && c->exceeding)
		fprintf(to,
			" (without any change, at least one would do so in 1 of %.0f comparisons)",
			1 / (1 - COMPARISON_LEVEL));
	fprintf(to, ".\n");
	if (c->exceeding)
		largest(first, to);
}

static void summary(const struct comparison *c, const struct compared_side *now,
	const struct compared_side *before, const struct compared *first, FILE *to)
{
	char *words = NULL, *rest, *line;
	size_t size;
	FILE *f = mg_text_open(&words, &size);

	if (!f)
		return;
	summary_words(c, now, before, first, f);
	if (mg_text_close(f, &words)) {
		fprintf(to, "\n");
		for (line = strtok_r(words, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
			text_wrapped(to, 0, 2, line);
	}
	free(words);
}

/* ---- the table ---- */

/* Formats what noise explains: symmetrical between recordings, not so within one. */
static void noise_of(const struct comparison *c, const struct compared *r, char out[96])
{
	if (isnan(r->low))
		snprintf(out, 96, "n/a");
	else if (c->noise == NOISE_WITHIN)
		snprintf(out, 96, "%s ... %s", change(r->low, r->unit), change(r->high, r->unit));
	else
		snprintf(out, 96, "%s %s", text_plus_minus(),
			value((r->high - r->low) / 2, r->unit));
}

static void row(struct table *t, const struct comparison *c, const struct compared *r)
{
	char name[200], noise[96];

	figure_words(name, r);
	noise_of(c, r, noise);
	table_row(t, "    %s\t%s\t%s\t%s\t%s\t%s\t%s", name, value(r->before_value, r->unit),
		value(r->now_value, r->unit), change(r->difference, r->unit), noise,
		ratio(r->ratio), r->verdict == EXCEEDS_NOISE ? "*" : "");
}

static bool is_of(const struct compared *r, const struct compared *other)
{
	return memcmp(&r->key, &other->key, sizeof(r->key)) == 0;
}

/* Returns whether one of the rows before `i` is of the same subject, and has printed this one. */
static bool is_printed(const struct compared *const *all, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (is_of(all[j], all[i]))
			return true;
	return false;
}

static void table(const struct comparison *c, const struct compared *const *all, size_t rows,
	FILE *to, bool colour)
{
	bool residence = false, exceeds = false;
	struct table t;
	char name[80];

	table_begin(&t, "lrrrrrl");
	table_drops(&t, "5");
	table_row(&t, "\tbefore\tnow\tchange\t%s\tratio\t",
		c->noise == NOISE_WITHIN ? "interval" : "noise");
	for (size_t i = 0; i < rows; i++) {
		if (is_printed(all, i))
			continue;
		subject_name(name, &all[i]->key);
		table_row(&t, "  %s", name);
		for (size_t j = i; j < rows; j++) {
			if (!is_of(all[j], all[i]))
				continue;
			residence |= all[j]->stage != NULL;
			exceeds |= all[j]->verdict == EXCEEDS_NOISE;
			row(&t, c, all[j]);
		}
	}
	table_print(&t, to, 0, colour);
	if (exceeds)
		fprintf(to, "  * exceeds the noise %s\n",
			c->noise == NOISE_WITHIN ? "within the recordings, which says nothing of "
						   "that between them"
						 : "between the recordings");
	if (residence)
		fprintf(to, "  times in the stack are as measured, tracing overhead included\n");
	if (rows < c->rows)
		fprintf(to, "  the %zu largest of %zu differences; --all prints all\n", rows,
			c->rows);
}

static void alone(const struct subject_key *keys, size_t n, const char *where, FILE *to)
{
	char name[80];

	for (size_t i = 0; i < n && i < ALONE_SHOWN; i++) {
		subject_name(name, &keys[i]);
		fprintf(to, "only %s: %s\n", where, name);
	}
	if (n > ALONE_SHOWN)
		fprintf(to, "only %s: %zu more\n", where, n - ALONE_SHOWN);
}

static bool has_left_out(const struct compared_side *s)
{
	bool any = false;

	for (size_t i = 0; i < s->n; i++)
		any |= s->of[i].left_out;
	return any;
}

void comparison_text(const struct comparison *c, const struct compared_side *now,
	const struct compared_side *before, size_t rows, FILE *to, bool colour)
{
	const struct compared **all = comparison_by_effect(c);

	side("before", before, to);
	side("now", now, to);
	settings(now, before, to);
	steal(now, before, to);
	if (!all)
		return;
	summary(c, now, before, all[0], to);
	fprintf(to, "\n");
	table(c, all, rows && rows < c->rows ? rows : c->rows, to, colour);
	alone(c->only_before, c->only_before_n, "before", to);
	alone(c->only_now, c->only_now_n, "now", to);
	if (has_left_out(now) || has_left_out(before))
		fprintf(to, "more kinds of flows than can be compared\n");
	free(all);
}
