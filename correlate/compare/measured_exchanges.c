/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "measured.h"
#include "reported/exchanges.h"
#include "reported/getters.h"
#include "reported/in_program.h"
#include "reported/table.h"

/* Fewer exchanges have no figure of the slow ones. */
#define SLOW_MIN 20

static const struct {
	const char *name, *words;
	enum exchange_time time;
	double quantile;
	const char *whole;
} times[] = {
#define COMPARED(scope, row, name, words, time, quantile, whole) \
	{name, words, time, quantile, whole},
	MG_COMPARED_TIMES(COMPARED)
#undef COMPARED
};
#define TIMES (sizeof(times) / sizeof(times[0]))

/* Columns of the answer: typical exchanges, and slow ones. */
static const struct {
	const char *name, *words, *words_of_parts;
} columns[] = {{"typical", "median exchanges", "median"}, {"slow", "slowest exchanges", "slowest"}};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static struct subject_key role(const struct exchange_group *g)
{
	struct subject_key key;

	memset(&key, 0, sizeof(key));
	key.what = SUBJECT_EXCHANGES;
	key.kind = g->key.kind;
	key.side = g->key.role == ROLE_SERVER ? SIDE_SERVER : SIDE_CLIENT;
	key.port = g->key.port;
	return key;
}

static bool is_of(const struct exchange_group *g, const struct subject_key *key)
{
	struct subject_key own = role(g);

	return memcmp(&own, key, sizeof(own)) == 0;
}

/* A role's groups are of several programs or servers. */
struct scope_of_role {
	struct measured *m;
	const struct report *r;
	const struct exchange_group *first; /* and those behind it */
	struct subject_key key;
};

#define EACH_GROUP(of, g)                                                     \
	for (const struct exchange_group *g = (of)->first; g; g = g->hh.next) \
		if (is_of(g, &(of)->key))

static int add(const struct scope_of_role *of, struct measured_figure f)
{
	f.key = of->key;
	f.is_0_if_missing = f.reason[0];
	return measured_add(of->m, &f);
}

/* Returns a time in nanoseconds as a figure. */
static struct measured_figure time_of(
	const struct scope_of_role *of, const char *name, const char *words, double cycles)
{
	return (struct measured_figure){
		.figure = name, .words = words, .unit = UNIT_NS, .value = report_ns(of->r, cycles)};
}

/* Returns the time that a part of the figure took, by its name in JSON and as text. */
static struct measured_figure part_of(const struct scope_of_role *of,
	const struct measured_figure *whole, const char *name, const char *words, double cycles)
{
	struct measured_figure f = time_of(of, whole->figure, whole->words, cycles);

	f.whole = whole->figure;
	snprintf(f.reason, sizeof(f.reason), "%s", name);
	snprintf(f.reason_words, sizeof(f.reason_words), "%s", words);
	return f;
}

static int add_times(const struct scope_of_role *of)
{
	int err = 0;

	for (size_t i = 0; i < TIMES && !err; i++) {
		struct dist d = {0};
		struct measured_figure f;
		double value = NAN;

		EACH_GROUP(of, g)
		dist_add_all(&d, &g->time[times[i].time]);
		if (d.n && times[i].quantile <= 0.5)
			value = dist_quantile(&d, times[i].quantile);
		else if (d.n >= SLOW_MIN && dist_highest(&d) >= times[i].quantile)
			value = dist_quantile(&d, times[i].quantile);
		dist_free(&d);
		f = time_of(of, times[i].name, times[i].words, value);
		f.whole = times[i].whole;
		err = add(of, f);
	}
	return err;
}

/* ---- in the program ---- */

/* A part of the time in the program, over a role's groups. */
struct part {
	char words[128];
	uint64_t time;
};

static void add_part(struct part *part, size_t *parts, const struct program_row *row)
{
	char words[128];
	size_t i = 0;

	program_words(&row->key, words);
	while (i < *parts && strcmp(part[i].words, words) != 0)
		i++;
	if (i == *parts) {
		memcpy(part[i].words, words, sizeof(words));
		++*parts;
	}
	part[i].time += row->time;
}

static int add_in_program(const struct scope_of_role *of)
{
	size_t rows = 0, parts = 0;
	uint64_t n = 0, time = 0;
	struct measured_figure whole;
	struct part *part;
	int err;

	EACH_GROUP(of, g)
	{
		rows += HASH_COUNT(g->program.rows);
		n += g->program.n;
		time += g->program.time;
	}
	if (!n)
		return 0;
	part = mg_calloc(rows + 1, sizeof(*part));
	if (!part)
		return -ENOMEM;
	EACH_GROUP(of, g)
	for (const struct program_row *row = g->program.rows; row; row = row->hh.next)
		add_part(part, &parts, row);
	whole = time_of(of, "in_program", "in the program, mean", (double)time / (double)n);
	err = add(of, whole);
	for (size_t i = 0; i < parts && !err; i++)
		err = add(of, part_of(of, &whole, part[i].words, part[i].words,
				      (double)part[i].time / (double)n));
	free(part);
	return err;
}

/* ---- by cause ---- */

static void sum_up(struct cause_sums *sum, const struct cause_sums *more)
{
	sum->n += more->n;
	sum->time += more->time;
	for (int end = 0; end < CAUSE_ENDS; end++)
		for (int c = 0; c < CAUSES; c++)
			sum->cause[end][c] += more->cause[end][c];
}

static int add_causes(const struct scope_of_role *of, const struct measured_figure *whole,
	const struct answer_column_figures *column)
{
	double n = (double)column->sum.n;
	int err = 0;

	for (int end = 0; end < CAUSE_ENDS; end++)
		for (int c = 0; c < CAUSES && !err; c++) {
			const char *end_of = cause_is_between(c) ? "" : answer_end(column, end);
			char name[80], words[128];
			uint64_t time = column->sum.cause[end][c];

			if (!time)
				continue;
			snprintf(name, sizeof(name), "%s%s%s", end_of, *end_of ? " " : "",
				cause_name(c));
			snprintf(words, sizeof(words), "%s%s%s", end_of, *end_of ? ", " : "",
				cause_label(c));
			err = add(of, part_of(of, whole, name, words, (double)time / n));
		}
	return err;
}

static int add_columns(const struct scope_of_role *of)
{
	int err = 0;

	for (uintptr_t i = 0; i < COLUMNS && !err; i++) {
		struct measured_figure whole;
		struct answer_column_figures all = {
			.role = of->key.side == SIDE_SERVER ? ROLE_SERVER : ROLE_CLIENT};

		EACH_GROUP(of, g)
		{
			struct exchange_group_figures f = {.r = of->r, .g = g};
			struct answer_column_figures column;
			uintptr_t at = i;

			if (g->causes && g->causes->n >= SLOW_MIN &&
				next_exchange_group_answer(&f, &at, &column))
				sum_up(&all.sum, &column.sum);
		}
		if (!all.sum.n)
			continue;
		whole = time_of(of, columns[i].name, columns[i].words,
			(double)all.sum.time / (double)all.sum.n);
		err = add(of, whole);
		whole.words = columns[i].words_of_parts;
		if (!err)
			err = add_causes(of, &whole, &all);
	}
	return err;
}

static int add_counts(const struct scope_of_role *of)
{
	double answered = 0, unanswered = 0;
	int err;

	EACH_GROUP(of, g)
	{
		answered += (double)g->counts.answered;
		unanswered += (double)g->counts.unanswered;
	}
	err = measured_add_subject(of->m, &of->key, answered);
	if (!err && answered + unanswered > 0)
		err = add(of, (struct measured_figure){.figure = "unanswered",
				      .words = "requests without a reply",
				      .unit = UNIT_SHARE,
				      .value = unanswered / (answered + unanswered)});
	return err;
}

int measured_add_exchanges(struct measured *m, const struct report *r)
{
	const struct exchange_group *all = figures_of(r->core)->exchanges.groups;
	int err = 0;

	for (const struct exchange_group *g = all; g && !err; g = g->hh.next) {
		struct scope_of_role of = {m, r, all, role(g)};
		const struct exchange_group *first = all;

		while (!is_of(first, &of.key))
			first = first->hh.next;
		if (first != g) /* these groups have been added with the first of them */
			continue;
		err = add_counts(&of);
		if (!err)
			err = add_times(&of);
		if (!err)
			err = add_in_program(&of);
		if (!err)
			err = add_columns(&of);
	}
	return err;
}
