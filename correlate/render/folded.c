/* SPDX-License-Identifier: MIT */
#include "render/folded.h"

#include <inttypes.h>

/* Prints a name, in which neither the separator nor a line's end may stand. */
static void name(const char *text, FILE *to)
{
	for (; *text; text++)
		fputc(*text == ';' ? ':' : (unsigned char)*text < ' ' ? '?' : *text, to);
}

static void frames(const struct stack_table *t, uint64_t id, const char *behind, FILE *to)
{
	const struct stack_chain *c = id == FACT_NONE ? NULL : stack_chain(t, id);

	for (uint32_t i = c ? c->n : 0; i > 0; i--) {
		fputc(';', to);
		name(c->frame[i - 1], to);
		fputs(behind, to);
	}
	if (id != FACT_NONE && !c)
		fputs(";[unknown]", to);
}

bool folded_are_recorded(const struct report *r)
{
	return figures_of(r->core)->stacks.recorded;
}

void folded_print(const struct report *r, enum fact_stack_why why, FILE *to)
{
	const struct stack_table *t = &figures_of(r->core)->stacks;

	for (const struct stack_row *row = t->rows; row; row = row->hh.next) {
		uint64_t weight = stack_weight(row);

		if (row->key.why != why)
			continue;
		if (why == STACK_BLOCK)
			weight = (weight + 500) / 1000;
		name(row->key.program[0] ? row->key.program : "[any program]", to);
		frames(t, row->key.user, "", to);
		frames(t, row->key.kernel, "_[k]", to);
		fprintf(to, " %" PRIu64 "\n", weight);
	}
}
