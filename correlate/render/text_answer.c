/* SPDX-License-Identifier: MIT */
/* Prints the answer: where the time of requests went, and what to do about it. */
#include "text_answer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "reported/answer.h"
#include "reported/getters.h"
#include "text.h"
#include "wrap.h"
#include "text_causes.h"
#include "text_left_out.h"
#include "text_stacks.h"

/* ---- the table: where the time went ---- */

/* Where time goes at either end, in the order of a request's way. */
enum answer_place { SENDING, PROGRAM, RECEIVING, PLACES };
/* A place is small if it takes less of the time. */
#define SMALL_PLACE 0.01
static const char *const place_label[PLACES] = {"sending", "program", "receiving"};

static enum answer_place place_of(enum cause c)
{
	if (c == CAUSE_ORDER || c == CAUSE_READER || c == CAUSE_RUN_QUEUE || c == CAUSE_RECEIVE)
		return RECEIVING;
	return c == CAUSE_PROGRAM || c == CAUSE_WRITING ? PROGRAM : SENDING;
}

static const char *mean(const struct answer_column_figures *c, uint64_t cycles)
{
	return text_ns(report_ns(c->r, (double)cycles / (double)c->sum.n));
}

/* Return the widths of the labels and of a column of times, which are less on narrow terminals. */
static int label_width(void)
{
	return text_columns() < 72 ? 19 : 22;
}

static int column_width(void)
{
	return text_columns() < 72 ? 13 : CAUSE_TITLE_WIDTH;
}

/* Prints a row, if any column has time in it. */
static void row(const char *label, const struct answer_columns *columns,
	const uint64_t time[ANSWER_COLUMNS], FILE *to)
{
	uint64_t any = 0;

	for (int i = 0; i < columns->n; i++)
		any |= time[i];
	if (!any)
		return;
	fprintf(to, "  %-*s", label_width(), label);
	for (int i = 0; i < columns->n; i++) {
		const char *text = mean(&columns->column[i], time[i]);

		fprintf(to, "%*s%s", column_width() - text_width(text), "", text);
	}
	fprintf(to, "\n");
}

/* A row of the table: what was done where. */
struct place_row {
	char label[24];
	uint64_t time[ANSWER_COLUMNS];
};
#define ROWS (2 * PLACES + 1)

/* Adds the rows of one end. Returns the number of rows then. */
static int place_rows(
	const struct answer_columns *columns, enum cause_end end, struct place_row *rows, int n)
{
	for (int p = 0; p < PLACES; p++, n++) {
		rows[n] = (struct place_row){0};
		snprintf(rows[n].label, sizeof(rows[n].label), "  %s, %s",
			answer_end(&columns->column[0], end), place_label[p]);
		for (int i = 0; i < columns->n; i++)
			for (int c = 0; c < CAUSES; c++)
				if (!cause_is_between((enum cause)c) &&
					(int)place_of((enum cause)c) == p)
					rows[n].time[i] += columns->column[i].sum.cause[end][c];
	}
	return n;
}

/* Adds the row of the network. */
static int between_row(const struct answer_columns *columns, struct place_row *rows, int n)
{
	rows[n] = (struct place_row){.label = "  network"};
	for (int i = 0; i < columns->n; i++)
		for (int c = 0; c < CAUSES; c++)
			if (cause_is_between((enum cause)c))
				rows[n].time[i] += columns->column[i].sum.cause[END_OWN][c] +
						   columns->column[i].sum.cause[END_FAR][c];
	return n + 1;
}

static bool is_small(const struct answer_columns *columns, const uint64_t time[ANSWER_COLUMNS])
{
	for (int i = 0; i < columns->n; i++)
		if ((double)time[i] >= SMALL_PLACE * (double)columns->column[i].sum.time)
			return false;
	return true;
}

void text_answer_table(const struct answer_columns *columns, bool fold, FILE *to)
{
	uint64_t whole[ANSWER_COLUMNS], rest[ANSWER_COLUMNS] = {0};
	struct place_row rows[ROWS];
	int n;

	fprintf(to, "  %-*s", label_width(), "mean of");
	for (int i = 0; i < columns->n; i++) {
		whole[i] = columns->column[i].sum.time;
		fprintf(to, "%*s", column_width(), columns->column[i].title);
	}
	fprintf(to, "\n");
	row("whole exchange", columns, whole, to);
	n = place_rows(columns, END_OWN, rows, 0);
	n = between_row(columns, rows, n);
	n = place_rows(columns, END_FAR, rows, n);
	for (int p = 0; p < n; p++) {
		if (!fold || !is_small(columns, rows[p].time)) {
			row(rows[p].label, columns, rows[p].time, to);
			continue;
		}
		for (int i = 0; i < columns->n; i++)
			rest[i] += rows[p].time[i];
	}
	row("  all else", columns, rest, to);
}

/* ---- the whole ---- */

/* Returns whether an exchange is one of the group's. */
static bool is_of_group(const struct slow_exchange *s, const struct exchange_group *g)
{
	bool server = g->key.role == ROLE_SERVER;
	uint16_t port = server ? s->fact.local.port : s->fact.remote.port;

	return s->fact.role == g->key.role && s->fact.kind == g->key.kind && port == g->key.port &&
	       strncmp(s->program, g->key.program, sizeof(s->program)) == 0 &&
	       (server || memcmp(s->remote, g->key.addr, sizeof(s->remote)) == 0);
}

/* Finds the group's slowest exchange. Returns false if there is none. */
static bool slowest_of(
	const struct report *r, const struct exchange_group *g, struct slow_exchange_figures *f)
{
	struct report_figures all = {.r = r};
	uintptr_t at = 0;

	do
		if (!next_whole_slowest(&all, &at, f))
			return false;
	while (!is_of_group(f->s, g));
	return true;
}

/* Prints the group's slowest exchange, and how to see its life. */
static void slowest(const struct report *r, const struct exchange_group *g, FILE *to)
{
	struct slow_exchange_figures f;
	char words[WORDS_MAX];

	if (!slowest_of(r, g, &f))
		return;
	snprintf(words, sizeof(words), "the slowest: %s at %.6f s, %s%s%s",
		text_ns(value_of(get_slow_exchange_whole_ns(&f))),
		(double)(int64_t)(core_ns(r->core, f.s->fact.request_last) - r->recording.first) /
			1e9,
		f.local[0] ? f.local : f.request, f.remote[0] ? " with " : "", f.remote);
	fprintf(to, "  ");
	text_wrapped(to, 2, 4, words);
	/* in one line, as it is copied */
	fprintf(to, "    its life: magnet show %s --exchange %s@%" PRIu64 "\n",
		r->source ? text_plain(r->source, 1000) : "DIR", f.request,
		f.s->fact.request_offset);
}

bool text_is_of_exchanges(const struct report *r)
{
	uint64_t bytes = 0;

	for (const struct exchange_group *g = figures_of(r->core)->exchanges.groups; g;
		g = g->hh.next)
		if (g->causes && !g->is_aside)
			bytes += g->divided_bytes;
	return bytes * 2 > r->sums.bytes - r->sums.aside;
}

/* Finds the ports or peer of which the answer is. Returns false if there is none. */
static bool answered(const struct report *r, struct exchange_group_figures *f)
{
	struct report_figures all = {.r = r};
	uintptr_t at = 0;

	do
		if (!next_whole_exchanges(&all, &at, f))
			return false;
	while (!f->g->causes);
	return true;
}

/*
 * Returns whether a cause concerns what its end sends; else what it receives. Between both ends it
 * is the direction that carries more.
 */
static bool is_of_sending(const struct cause_figures *c, const struct fact_exchange *e)
{
	if (cause_is_between(c->cause))
		return (e->reply_bytes > e->request_bytes) == (e->role == ROLE_SERVER);
	return place_of(c->cause) == SENDING || c->cause == CAUSE_WRITING;
}

bool text_answer_flow(const struct report *r, struct fact_flow_id *flow)
{
	struct slow_exchange_figures slow;
	struct exchange_group_figures f;
	struct cause_figures cause;
	struct fact_flow own, far;
	const struct fact_exchange *e;
	uintptr_t at = 0;
	bool sending;

	if (!answered(r, &f) || !slowest_of(r, f.g, &slow) ||
		!next_slow_exchange_causes(&slow, &at, &cause))
		return false;
	e = &slow.s->fact;
	sending = is_of_sending(&cause, e);
	if (cause.end == END_OWN || cause_is_between(cause.cause)) {
		*flow = e->request.rx == !sending ? e->request : e->reply;
		return true;
	}
	/* the other end sends what this one receives */
	*flow = e->request.rx == sending ? e->request : e->reply;
	if (core_flow(r->core, flow->sock, flow->rx, &own) && flow_peer(r, &own, &far))
		*flow = far.flow;
	return true;
}

/* How much is left out of the answer, so that it fits the first screen. */
enum answer_form { ALL_ROWS, FOLDED_ROWS, FIRST_CAUSES };

static void print(const struct report *r, const struct exchange_group_figures *f,
	enum answer_form form, FILE *to, bool colour)
{
	struct causes_told told = {.only_first = form == FIRST_CAUSES};
	struct answer_columns columns = {0};

	for (uintptr_t at = 0; columns.n < ANSWER_COLUMNS &&
			       next_exchange_group_answer(f, &at, &columns.column[columns.n]);)
		columns.n++;
	fprintf(to, "\n%sAnswer%s: where the time of %s exchange%s %s %s", colour ? "\033[1m" : "",
		colour ? "\033[0m" : "", text_count(f->g->causes->n), plural(f->g->causes->n),
		f->address[0] ? "with" : "at",
		f->address[0]          ? f->address
		: f->g->key.program[0] ? text_plain(f->g->key.program, 15)
				       : "a program");
	if (!f->address[0] && f->g->key.port)
		fprintf(to, " :%u", f->g->key.port);
	fprintf(to, " went\n");
	text_left_out(r, f->g, to);
	text_answer_table(&columns, form != ALL_ROWS, to);
	for (int i = 0; i < columns.n; i++)
		text_causes_of(&columns.column[i], &told, to);
	text_remedies(&told, to);
	text_answer_stacks(f, to);
	slowest(r, f->g, to);
}

void text_answer(const struct report *r, int lines, FILE *to, bool colour)
{
	struct exchange_group_figures f;
	enum answer_form form = ALL_ROWS;
	bool fits = false;

	if (!answered(r, &f)) {
		text_without_exchanges(r, to, colour);
		return;
	}
	for (; !fits && form <= FIRST_CAUSES; form++) {
		char *text;
		size_t size;
		FILE *answer = mg_text_open(&text, &size);

		if (!answer)
			return;
		print(r, &f, form, answer, colour);
		if (!mg_text_close(answer, &text))
			return;
		fits = text_has_all(r) || form == FIRST_CAUSES || text_lines(text) <= lines;
		if (fits)
			fputs(text, to);
		free(text);
	}
}
