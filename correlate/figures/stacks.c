/* SPDX-License-Identifier: MIT */
#include "figures/stacks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"

#define ROWS_MAX   100000
#define CHAINS_MAX 100000
#define FRAMES_MAX 1000

/* ---- rows ---- */

static void note_recent(struct stack_table *t, const struct fact_stack *f)
{
	if (!t->recent)
		t->recent = mg_calloc(RECENT_BLOCKS, sizeof(*t->recent));
	if (!t->recent)
		return;
	t->recent[t->recent_n++ % RECENT_BLOCKS] = (struct recent_block){.tid = f->tid,
		.end = f->time,
		.user = f->user,
		.kernel = f->kernel,
		.off = f->off,
		.call = f->call};
}

static struct stack_row *row_of(struct stack_table *t, const struct stack_key *key)
{
	struct stack_row *r = NULL;

	HASH_FIND(hh, t->rows, key, sizeof(*key), r);
	if (r || HASH_COUNT(t->rows) >= ROWS_MAX)
		return r;
	r = mg_calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->key = *key;
	HASH_ADD(hh, t->rows, key, sizeof(r->key), r);
	return hash_kept(r);
}

static void on_stack(void *arg, const void *fact)
{
	const struct fact_stack *f = fact;
	struct stack_table *t = arg;
	struct stack_key key = {
		.user = f->user, .kernel = f->kernel, .call = f->call, .why = f->why};
	struct stack_row *r;

	if (f->program)
		memcpy(key.program, f->program, strnlen(f->program, sizeof(key.program) - 1));
	r = row_of(t, &key);
	if (!r) {
		t->left_out++;
		return;
	}
	r->n++;
	if (f->why != STACK_BLOCK)
		return;
	r->off += f->off;
	if (f->off > r->max)
		r->max = f->off;
	note_recent(t, f);
}

/* ---- frames ---- */

static struct stack_chain *chain_of(struct stack_table *t, uint64_t id)
{
	struct stack_chain *c = NULL;

	HASH_FIND(hh, t->chains, &id, sizeof(id), c);
	if (c || HASH_COUNT(t->chains) >= CHAINS_MAX)
		return c;
	c = mg_calloc(1, sizeof(*c));
	if (!c)
		return NULL;
	c->id = id;
	HASH_ADD(hh, t->chains, id, sizeof(c->id), c);
	return hash_kept(c);
}

char *stack_frame_name(const struct fact_frame *f)
{
	const char *slash = f->file ? strrchr(f->file, '/') : NULL;
	const char *file = slash ? slash + 1 : f->file;
	char name[300];

	if (f->function)
		return mg_strdup(f->function);
	if (f->address == FACT_NONE)
		return mg_strdup("[unknown callers]");
	if (file && f->offset != FACT_NONE)
		snprintf(name, sizeof(name), "[%.200s+0x%" PRIx64 "]", file, f->offset);
	else
		snprintf(name, sizeof(name), "[%.200s]", file ? file : "unknown");
	return mg_strdup(name);
}

static void on_frame(void *arg, const void *fact)
{
	const struct fact_frame *f = fact;
	struct stack_chain *c = chain_of(arg, f->stack);

	if (!c || c->n == FRAMES_MAX)
		return;
	if (c->n == c->room) {
		uint32_t room = c->room ? 2 * c->room : 16;
		char **more = mg_realloc(c->frame, room * sizeof(*more));

		if (!more)
			return;
		c->frame = more;
		c->room = room;
	}
	c->frame[c->n] = stack_frame_name(f);
	c->n += c->frame[c->n] != NULL;
}

static void on_counts(void *arg, const void *fact)
{
	struct stack_table *t = arg;

	t->recorded = true;
	t->counts = *(const struct fact_stacks *)fact;
	if (t->counts.kernel_unnamed)
		memcpy(t->kernel_unnamed, t->counts.kernel_unnamed,
			strnlen(t->counts.kernel_unnamed, sizeof(t->kernel_unnamed) - 1));
	t->counts.kernel_unnamed = NULL;
}

const struct stack_chain *stack_chain(const struct stack_table *t, uint64_t id)
{
	struct stack_chain *c = NULL;

	HASH_FIND(hh, t->chains, &id, sizeof(id), c);
	return c;
}

/* ---- blocks in requests ---- */

static void on_in_program(void *arg, const void *fact)
{
	struct stack_table *t = arg;

	if (t->recent)
		program_times_add(&t->parts, fact);
}

static void add_request(
	struct stack_table *t, const struct recent_block *b, uint64_t port, uint64_t ns)
{
	struct request_stack_key key = {
		.user = b->user, .kernel = b->kernel, .call = b->call, .port = port};
	struct request_stack *r = NULL;

	HASH_FIND(hh, t->requests, &key, sizeof(key), r);
	if (!r && HASH_COUNT(t->requests) < ROWS_MAX) {
		r = mg_calloc(1, sizeof(*r));
		if (!r)
			return;
		r->key = key;
		HASH_ADD(hh, t->requests, key, sizeof(r->key), r);
		r = hash_kept(r);
	}
	if (!r)
		return;
	r->n++;
	r->off += ns;
}

/* Returns what is left of a part of the request in which the block may be; NULL if there is none.
 */
static struct program_time *part_of(struct program_times *p, const struct recent_block *b)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->part[i].key.part == PROGRAM_BLOCKED && p->part[i].tid == b->tid &&
			p->part[i].key.call == b->call && p->part[i].time)
			return &p->part[i];
	return NULL;
}

/*
 * Looks for the blocks that ended while the program had the request, in a thread and call that have
 * a part of its time. Time that a block began before the request is not the request's.
 */
static void on_exchange(void *arg, const void *fact)
{
	const struct fact_exchange *e = fact;
	struct stack_table *t = arg;
	double hz = t->recent ? core_hz(t->core) : 0;
	uint64_t oldest = t->recent_n > RECENT_BLOCKS ? t->recent_n - RECENT_BLOCKS : 0;

	if (hz <= 0 || !program_times_are_of(&t->parts, e))
		return;
	for (uint64_t i = t->recent_n; i > oldest; i--) {
		const struct recent_block *b = &t->recent[(i - 1) % RECENT_BLOCKS];
		uint64_t cycles = (uint64_t)((double)b->off * hz / 1e9);
		struct program_time *part;

		if (b->end < e->request_last)
			break;
		part = b->end <= e->reply_first ? part_of(&t->parts, b) : NULL;
		if (!part)
			continue;
		if (cycles > part->time)
			cycles = part->time;
		part->time -= cycles;
		add_request(t, b, e->local.port, (uint64_t)((double)cycles * 1e9 / hz));
	}
}

/* ---- life ---- */

void stack_table_listen(struct stack_table *t, struct core *c)
{
	struct facts *f = core_facts(c);

	t->core = c;
	facts_listen(f, FACT_frame, on_frame, t);
	facts_listen(f, FACT_stacks, on_counts, t);
	facts_listen(f, FACT_in_program, on_in_program, t);
	facts_listen(f, FACT_exchange, on_exchange, t);
	facts_listen(f, FACT_stack, on_stack, t);
}

uint64_t stack_weight(const struct stack_row *r)
{
	return r->key.why == STACK_BLOCK ? r->off : r->n;
}

static int more(uint64_t a, uint64_t b)
{
	return a < b ? 1 : -(a > b);
}

static int by_weight(const struct stack_row *a, const struct stack_row *b)
{
	if (a->key.why != b->key.why)
		return a->key.why < b->key.why ? -1 : 1;
	return more(stack_weight(a), stack_weight(b));
}

static int by_time(const struct request_stack *a, const struct request_stack *b)
{
	return more(a->off, b->off);
}

void stack_table_finish(struct stack_table *t)
{
	HASH_SORT(t->rows, by_weight);
	HASH_SORT(t->requests, by_time);
}

static void free_chain(struct stack_chain *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		free(c->frame[i]);
	free(c->frame);
	free(c);
}

void stack_table_free(struct stack_table *t)
{
	struct stack_row *r, *next_row;
	struct stack_chain *c, *next_chain;
	struct request_stack *q, *next;

	HASH_ITER (hh, t->rows, r, next_row) {
		HASH_DEL(t->rows, r);
		free(r);
	}
	HASH_ITER (hh, t->chains, c, next_chain) {
		HASH_DEL(t->chains, c);
		free_chain(c);
	}
	HASH_ITER (hh, t->requests, q, next) {
		HASH_DEL(t->requests, q);
		free(q);
	}
	free(t->recent);
}
