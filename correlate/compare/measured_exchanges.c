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
	const char *name;
	enum exchange_time time;
	double quantile;
	const char *whole;
} times[] = {
#define COMPARED(scope, row, name, time, quantile, whole) {name, time, quantile, whole},
	MG_COMPARED_TIMES(COMPARED)
#undef COMPARED
};
#define TIMES (sizeof(times) / sizeof(times[0]))

/* Columns of the answer: typical exchanges, and slow ones. */
static const char *const columns[] = {"typical", "slow"};
#define COLUMNS 2

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

static int add(const struct scope_of_role *of, const char *figure, const char *reason,
	const char *whole, enum figure_unit unit, double value)
{
	struct measured_figure f = {.key = of->key,
		.figure = figure,
		.whole = whole,
		.is_0_if_missing = reason != NULL,
		.unit = unit,
		.value = value};

	snprintf(f.reason, sizeof(f.reason), "%s", reason ? reason : "");
	return measured_add(of->m, &f);
}

static int add_times(const struct scope_of_role *of)
{
	int err = 0;

	for (size_t i = 0; i < TIMES && !err; i++) {
		struct dist d = {0};
		double value = NAN;

		EACH_GROUP(of, g)
		dist_add_all(&d, &g->time[times[i].time]);
		if (d.n && times[i].quantile <= 0.5)
			value = dist_quantile(&d, times[i].quantile);
		else if (d.n >= SLOW_MIN)
			value = dist_at_highest(&d);
		dist_free(&d);
		err = add(
			of, times[i].name, NULL, times[i].whole, UNIT_NS, report_ns(of->r, value));
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
	err = add(
		of, "in_program", NULL, NULL, UNIT_NS, report_ns(of->r, (double)time / (double)n));
	for (size_t i = 0; i < parts && !err; i++)
		err = add(of, "in_program", part[i].words, "in_program", UNIT_NS,
			report_ns(of->r, (double)part[i].time / (double)n));
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

static int add_causes(const struct scope_of_role *of, const char *figure,
	const struct answer_column_figures *column)
{
	double n = (double)column->sum.n;
	int err = 0;

	for (int end = 0; end < CAUSE_ENDS; end++)
		for (int c = 0; c < CAUSES && !err; c++) {
			char reason[80];
			uint64_t time = column->sum.cause[end][c];

			if (!time)
				continue;
			snprintf(reason, sizeof(reason), "%s%s%s",
				cause_is_between(c) ? "" : answer_end(column, end),
				cause_is_between(c) ? "" : " ", cause_name(c));
			err = add(of, figure, reason, figure, UNIT_NS,
				report_ns(of->r, (double)time / n));
		}
	return err;
}

static int add_columns(const struct scope_of_role *of)
{
	int err = 0;

	for (uintptr_t i = 0; i < COLUMNS && !err; i++) {
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
		err = add(of, columns[i], NULL, NULL, UNIT_NS,
			report_ns(of->r, (double)all.sum.time / (double)all.sum.n));
		if (!err)
			err = add_causes(of, columns[i], &all);
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
		err = add(of, "unanswered", NULL, NULL, UNIT_SHARE,
			unanswered / (answered + unanswered));
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
