/* SPDX-License-Identifier: MIT */
#include "reported/stacks.h"

#include "reported/getters.h"

#define TABLE(r) (&figures_of((r)->core)->stacks)

bool next_report_stacks(const struct report_figures *f, uintptr_t *at, struct stack_figures *to)
{
	const struct stack_row *row = TABLE(f->r)->rows;

	if (*at >= STACKS_REPORTED)
		return false;
	for (uintptr_t i = 0; row && i < *at; i++)
		row = row->hh.next;
	++*at;
	*to = (struct stack_figures){f->r, row};
	return row != NULL;
}

/* Returns the name of frame number *at of a stack, the innermost first. */
static struct value next_frame(const struct stack_figures *f, uint64_t id, uintptr_t *at)
{
	const struct stack_chain *c = id == FACT_NONE ? NULL : stack_chain(TABLE(f->r), id);

	return value_text(c && *at < c->n ? c->frame[(*at)++] : NULL);
}

struct value next_stack_user(const struct stack_figures *f, uintptr_t *at)
{
	return next_frame(f, f->row->key.user, at);
}

struct value next_stack_kernel(const struct stack_figures *f, uintptr_t *at)
{
	return next_frame(f, f->row->key.kernel, at);
}

static const char *why_name(uint64_t why)
{
#define NAME(ID, name) name,
	static const char *const names[] = {MG_STACK_WHYS(NAME)};
#undef NAME

	return names[why];
}

/* clang-format off */
KNOWN(report, stacked, TABLE(f->r)->recorded)
KNOWN(stack, block, f->row->key.why == STACK_BLOCK)

GET(stack, why, value_text(why_name(f->row->key.why)))
GET(stack, program, value_text(f->row->key.program[0] ? f->row->key.program : NULL))
GET(stack, call, value_text(f->row->key.call))
GET(stack, n, value_count(f->row->n))
GET(stack, total_ns, value_count(f->row->off))
GET(stack, max_ns, value_count(f->row->max))
/* clang-format on */
