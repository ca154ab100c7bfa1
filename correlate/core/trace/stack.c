/* SPDX-License-Identifier: MIT */
#include "trace/stack.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "hash.h"
#include "socket/socket.h"
#include "task/blocked.h"
#include "task/process.h"
#include "task/thread.h"
#include "task/threads.h"

#define TEXTS      (MG_SYMBOL_WHY + 1)
#define TEXT_MAX   65536 /* bytes of a name; longer ones are cut */
#define PLACES_MAX 1000000

struct stack_place {
	uint64_t number, offset;
	char *text[TEXTS]; /* NULL: there is none */
	UT_hash_handle hh;
};

static uint8_t why_of(unsigned int id)
{
	return id == MG_EVENT_stack_block  ? STACK_BLOCK
	       : id == MG_EVENT_stack_call ? STACK_CALL
	       : id == MG_EVENT_stack_drop ? STACK_DROP
					   : STACK_RETRANSMIT;
}

static uint64_t known(uint64_t number)
{
	return number ? number : FACT_NONE;
}

void stack_on_taken(struct core *c, const struct mg_event *e)
{
	const struct mg_stack_taken *p = &e->stack_taken;
	struct fact_wait blocked = {
		.blocked_in = FACT_NO_WORD, .woken_by = FACT_NONE, .io = FACT_MAYBE};
	struct fact_stack f = {.time = e->cycles,
		.why = why_of(e->id),
		.pid = FACT_NONE,
		.tid = FACT_NONE,
		.off = e->id == MG_EVENT_stack_block ? p->off_ns : FACT_NONE,
		.user = known(p->user),
		.kernel = known(p->kernel)};
	struct thread *t = p->task_tid ? thread_get(c, p->task_tid, p->task_pid) : NULL;
	const struct mg_sock *s = sock_find(c, p->sock);

	if (!facts_wanted(&c->facts, FACT_stack))
		return;
	if (t) {
		f.pid = p->task_pid;
		f.tid = p->task_tid;
		process_of(c, t);
		f.program = thread_program(t);
	}
	if (t && e->id == MG_EVENT_stack_block)
		blocked_tell(c, t, &blocked);
	f.blocked_in = blocked.blocked_in;
	f.call = blocked.call;
	if (s)
		f.flow = flow_fact(&s->tx);
	emit_stack(&c->facts, &f);
}

static struct stack_place *place_of(struct core *c, uint64_t number, bool make)
{
	struct stack_place *p = NULL;

	HASH_FIND(hh, c->places, &number, sizeof(number), p);
	if (p || !make || HASH_COUNT(c->places) >= PLACES_MAX)
		return p;
	p = mg_calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->number = number;
	HASH_ADD(hh, c->places, number, sizeof(p->number), p);
	return hash_kept(p);
}

void stack_on_symbol(struct core *c, const struct mg_symbol *e)
{
	struct stack_place *p = place_of(c, e->place, true);
	size_t len = strnlen(e->text, sizeof(e->text)), before;
	char *more;

	if (!p || e->what >= TEXTS)
		return;
	p->offset = e->offset;
	before = p->text[e->what] && e->piece ? strlen(p->text[e->what]) : 0;
	if (before + len > TEXT_MAX)
		return;
	more = mg_realloc(p->text[e->what], before + len + 1);
	if (!more)
		return;
	memcpy(more + before, e->text, len);
	more[before + len] = 0;
	p->text[e->what] = more;
}

void stack_on_frame(struct core *c, const struct mg_stack_frame *e)
{
	const struct stack_place *p = e->place ? place_of(c, e->place, false) : NULL;
	struct fact_frame f = {.stack = e->stack,
		.depth = e->depth,
		.address = known(e->address),
		.offset = FACT_NONE};

	if (p) {
		f.function = p->text[MG_SYMBOL_FUNCTION];
		f.file = p->text[MG_SYMBOL_FILE];
		f.why_unknown = p->text[MG_SYMBOL_WHY];
		f.offset = p->offset;
	} else {
		f.why_unknown = e->address ? "its name is not in the trace"
					   : "no frame pointer leads to the callers";
	}
	emit_frame(&c->facts, &f);
}

void stack_on_end(struct core *c, const struct mg_stacks *p)
{
	char kernel[sizeof(p->kernel) + 1] = "";
	struct fact_stacks f = {.block = p->block_ns,
		.distinct = p->distinct,
		.unreadable = p->unreadable,
		.no_room = p->no_room,
		.mappings_lost = p->mappings_lost};

	memcpy(kernel, p->kernel, sizeof(p->kernel));
	f.kernel_unnamed = kernel[0] ? kernel : NULL;
	emit_stacks(&c->facts, &f);
}

void stacks_free(struct core *c)
{
	struct stack_place *p, *next;

	HASH_ITER (hh, c->places, p, next) {
		HASH_DEL(c->places, p);
		for (int i = 0; i < TEXTS; i++)
			free(p->text[i]);
		free(p);
	}
}
