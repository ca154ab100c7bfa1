/* SPDX-License-Identifier: MIT */
#include "text_stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "reported/answer.h"
#include "reported/getters.h"
#include "text.h"

#define BESIDE_THE_ANSWER 3
#define LISTED            10
#define LISTED_ALL        100
#define FRAMES_SHOWN      8
#define NAME_SHOWN        60
#define COMPARED          1000 /* rows with which later ones are compared, the heaviest */

static const struct stack_table *table_of(const struct report *r)
{
	return &figures_of(r->core)->stacks;
}

/* Prints the innermost frames of a stack on one line. */
static void frames(const struct report *r, uint64_t id, FILE *to)
{
	const struct stack_chain *c = id == FACT_NONE ? NULL : stack_chain(table_of(r), id);

	if (!c) {
		fputs(id == FACT_NONE ? "no stack was taken" : "its frames are not in the trace",
			to);
		return;
	}
	for (uint32_t i = 0; i < c->n && i < FRAMES_SHOWN; i++)
		fprintf(to, "%s%s", i ? " < " : "", text_plain(c->frame[i], NAME_SHOWN));
	if (c->n > FRAMES_SHOWN)
		fputs(" < ...", to);
}

/* ---- beside the answer ---- */

static void of_call(const struct report *r, const char *call, uint16_t port, FILE *to)
{
	int n = 0;

	for (const struct request_stack *q = table_of(r)->requests; q && n < BESIDE_THE_ANSWER;
		q = q->hh.next) {
		if (q->key.call != call || q->key.port != port)
			continue;
		if (!n++)
			fprintf(to, "  %s was called by (innermost first, < is called by):\n",
				text_plain(call, NAME_SHOWN));
		fprintf(to, "    %s in %s: ", text_ns((double)q->off), text_count(q->n));
		frames(r, q->key.user, to);
		fputc('\n', to);
	}
}

void text_answer_stacks(const struct exchange_group_figures *f, FILE *to)
{
	const char *told[ANSWER_COLUMNS] = {NULL};
	struct answer_column_figures column;
	struct cause_figures cause;
	int n = 0;

	if (!table_of(f->r)->requests)
		return;
	for (uintptr_t at = 0; next_exchange_group_answer(f, &at, &column);) {
		struct answer_doing doing;
		uintptr_t first = 0;
		bool again = false;

		if (!next_answer_column_causes(&column, &first, &cause) ||
			cause.cause != CAUSE_PROGRAM)
			continue;
		answer_doing(&cause, &doing);
		if (!doing.row || doing.row->key.part != PROGRAM_BLOCKED || !doing.row->key.call)
			continue;
		for (int i = 0; i < n; i++)
			again |= told[i] == doing.row->key.call;
		if (again)
			continue;
		told[n++] = doing.row->key.call;
		of_call(f->r, doing.row->key.call, f->g->key.port, to);
	}
}

/* ---- lists ---- */

static const char *const title[STACK_WHYS] = {
	[STACK_BLOCK] = "Stacks where threads blocked for long",
	[STACK_CALL] = "Stacks where calls on sockets began",
	[STACK_DROP] = "Stacks where packets were dropped",
	[STACK_RETRANSMIT] = "Stacks where TCP sent again",
};

static bool is_asked_for(const struct report *r, uint64_t why)
{
	return r->stacks & 1u << why;
}

static void row(const struct report *r, const struct stack_row *s, FILE *to)
{
	if (s->key.why == STACK_BLOCK)
		fprintf(to, "  %s in %s, ", text_ns((double)s->off), text_count(s->n));
	else
		fprintf(to, "  %s time%s, ", text_count(s->n), plural(s->n));
	if (s->key.why == STACK_BLOCK)
		fprintf(to, "%s at most, ", text_ns((double)s->max));
	fprintf(to, "%s%s%s\n", s->key.program[0] ? text_plain(s->key.program, 15) : "any program",
		s->key.call ? ": " : "", s->key.call ? text_plain(s->key.call, NAME_SHOWN) : "");
	if (s->key.user != FACT_NONE) {
		fputs("      ", to);
		frames(r, s->key.user, to);
		fputc('\n', to);
	}
	if (s->key.kernel != FACT_NONE && s->key.why != STACK_BLOCK) {
		fputs("      kernel: ", to);
		frames(r, s->key.kernel, to);
		fputc('\n', to);
	}
}

/* Returns whether two stacks are printed alike. */
static bool are_alike(const struct report *r, uint64_t a, uint64_t b)
{
	const struct stack_chain *x = a == FACT_NONE ? NULL : stack_chain(table_of(r), a);
	const struct stack_chain *y = b == FACT_NONE ? NULL : stack_chain(table_of(r), b);

	if (a == b)
		return true;
	if (!x || !y || (x->n != y->n && (x->n <= FRAMES_SHOWN || y->n <= FRAMES_SHOWN)))
		return false;
	for (uint32_t i = 0; i < x->n && i < FRAMES_SHOWN; i++)
		if (strcmp(x->frame[i], y->frame[i]) != 0)
			return false;
	return true;
}

static bool is_same_row(
	const struct report *r, const struct stack_row *a, const struct stack_row *b)
{
	return a->key.call == b->key.call &&
	       strncmp(a->key.program, b->key.program, sizeof(a->key.program)) == 0 &&
	       are_alike(r, a->key.user, b->key.user) &&
	       (a->key.why == STACK_BLOCK || are_alike(r, a->key.kernel, b->key.kernel));
}

static int most_first(const void *a, const void *b)
{
	const struct stack_row *x = a, *y = b;

	if (x->off != y->off)
		return x->off < y->off ? 1 : -1;
	return x->n < y->n ? 1 : -(x->n > y->n);
}

/*
 * Copies the rows of a kind, those that are printed alike as one: their stacks differ in frames
 * that have no name, or are not shown. Returns how many there are then.
 */
static size_t merged(const struct report *r, uint64_t why, struct stack_row *to)
{
	size_t n = 0;

	for (const struct stack_row *s = table_of(r)->rows; s; s = s->hh.next) {
		size_t i = 0;

		if (s->key.why != why)
			continue;
		while (i < n && i < COMPARED && !is_same_row(r, &to[i], s))
			i++;
		if (i == n || i == COMPARED) {
			to[n++] = *s;
			continue;
		}
		to[i].n += s->n;
		to[i].off += s->off;
		to[i].max = to[i].max > s->max ? to[i].max : s->max;
	}
	qsort(to, n, sizeof(*to), most_first);
	return n;
}

static void list(const struct report *r, uint64_t why, FILE *to, bool colour)
{
	size_t most = text_has_all(r) ? LISTED_ALL : LISTED, n = 0;
	struct stack_row *rows;

	for (const struct stack_row *s = table_of(r)->rows; s; s = s->hh.next)
		n += s->key.why == why;
	rows = n ? mg_calloc(n, sizeof(*rows)) : NULL;
	if (!rows)
		return;
	n = merged(r, why, rows);
	fprintf(to, "\n%s%s%s (innermost first, < is called by)\n", colour ? "\033[1m" : "",
		title[why], colour ? "\033[0m" : "");
	for (size_t i = 0; i < n && i < most; i++)
		row(r, &rows[i], to);
	if (n > most)
		fprintf(to, "  and %s more (--folded has them)\n", text_count(n - most));
	free(rows);
}

static void missing(const struct stack_table *t, FILE *to)
{
	const struct fact_stacks *c = &t->counts;

	if (c->unreadable || c->no_room)
		fprintf(to,
			"%s stacks could not be taken: of %s no frame could be read, for %s there "
			"was "
			"no room\n",
			text_count(c->unreadable + c->no_room), text_count(c->unreadable),
			text_count(c->no_room));
	if (c->mappings_lost)
		fprintf(to, "%s mappings of programs were not seen: some functions have no name\n",
			text_count(c->mappings_lost));
	if (t->kernel_unnamed[0])
		fprintf(to, "the kernel's functions have no names: %s\n",
			text_plain(t->kernel_unnamed, NAME_SHOWN));
	if (t->left_out)
		fprintf(to, "%s stacks are left out: there are too many distinct ones\n",
			text_count(t->left_out));
}

void text_stacks(const struct report *r, FILE *to, bool colour)
{
	const struct stack_table *t = table_of(r);

	if (!r->stacks)
		return;
	if (!t->recorded) {
		fprintf(to, "\nNo stacks were recorded: magnet record --stacks does it\n");
		return;
	}
	for (uint64_t why = 0; why < STACK_WHYS; why++)
		if (is_asked_for(r, why))
			list(r, why, to, colour);
	missing(t, to);
}
