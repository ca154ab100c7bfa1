/* SPDX-License-Identifier: MIT */
#include "facts/apart.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "handover.h"

/*
 * Facts that are handed over. The listeners of other kinds read what the core knows at the time, or
 * keep nothing that these do. Texts stay until the core's end, as they are names that are kept
 * once; only that of a congestion control comes out of its event.
 */
/* clang-format off */
#define HANDED_OVER(X) \
	X(packet) X(range) X(wait) X(switch) X(switch_cost) X(state) X(resent) X(crossing) X(unsent) \
	X(refusal) X(zerocopy) X(in_program) X(before_read) X(exchange)
/* clang-format on */

/*
 * Facts whose listeners need the core's present state together with that of the others: they, and
 * all that follow, are given directly.
 */
#define ENDS_IT FACT_stack

/* A thread that has to be waited for more often than once in so many bytes does not pay. */
#define WORTH_IT  (HANDOVER_SIZE / 4)
#define FIRST_FEW 64

struct record {
	uint32_t size;  /* bytes, a multiple of 16, with this head and the copies behind the fact */
	uint16_t kind;  /* enum fact */
	uint64_t event; /* number of the event */
};

/* A pointer in a fact, and the bytes that are copied of what it points to. */
#define COPIES        4
#define ADDRESS_BYTES 16
#define TEXT_BYTES    48 /* the longest has 32 */
struct copied {
	uint16_t at, bytes;
};

struct facts_apart {
	struct facts_apart_turn turn;       /* of the core's thread */
	HANDOVER_LINES struct facts *facts; /* those that the core emits to */
	struct facts behind;                /* the listeners */
	struct facts_due due;
	pthread_t thread;
	uint8_t copies[FACTS];
	struct copied copied[FACTS][COPIES];
	struct handover to;
	/* of the core's thread */
	HANDOVER_LINES struct handover_buffer *buffer; /* being filled; NULL: none yet */
	/* event since whose facts something has been on its way to the listeners */
	uint64_t since;
	bool is_between;       /* they wait, for `due` */
	bool is_over;          /* they are called directly */
	uint64_t bytes, waits; /* bytes given, and times that the listeners were waited for */
};

/* ---- the core's thread ---- */

/* Copies what a fact points to, and returns its end; only a NULL needs no copy. */
static unsigned char *copy(unsigned char *to, const void *from, uint16_t bytes)
{
	unsigned char words[TEXT_BYTES] = {0};

	if (from && bytes == ADDRESS_BYTES)
		memcpy(words, from, ADDRESS_BYTES);
	else if (from)
		memcpy(words, from, strnlen(from, TEXT_BYTES - 1));
	return handover_copy(to, words, bytes);
}

/* Copies a fact, and behind it what must not be pointed to. */
static inline __attribute__((always_inline)) void put(
	struct facts_apart *a, enum fact kind, const void *fact, size_t size)
{
	struct record r = {.size = (uint32_t)(sizeof(r) + HANDOVER_ALIGNED(size)),
		.kind = kind,
		.event = a->turn.event};
	unsigned char *at;

	if (!a->buffer)
		a->buffer = handover_empty(&a->to);
	at = handover_room(
		a->buffer, sizeof(r) + HANDOVER_ALIGNED(size) + COPIES * (size_t)TEXT_BYTES);
	if (!at)
		return;
	for (int i = 0; i < a->copies[kind]; i++)
		r.size += a->copied[kind][i].bytes;
	a->buffer->n += r.size;
	a->turn.is_full = a->buffer->n >= HANDOVER_SIZE;
	at = handover_copy(at, &r, sizeof(r));
	at = handover_copy(at, fact, size);
	for (int i = 0; i < a->copies[kind]; i++) {
		const struct copied *k = &a->copied[kind][i];
		const void *from;

		memcpy(&from, (const char *)fact + k->at, sizeof(from));
		at = copy(at, from, k->bytes);
	}
	if (a->turn.is_idle)
		a->since = a->turn.event;
	a->turn.is_idle = false;
}

#define PUT(name)                                                        \
	static void put_##name(void *arg, const void *fact)              \
	{                                                                \
		put(arg, FACT_##name, fact, sizeof(struct fact_##name)); \
	}
HANDED_OVER(PUT)

static const fact_fn puts_of[FACTS] = {
#define PUTS(name) [FACT_##name] = put_##name,
	HANDED_OVER(PUTS)};

static void give(struct facts_apart *a)
{
	a->buffer->mark = a->turn.event;
	a->bytes += a->buffer->n;
	a->buffer = NULL;
	a->turn.is_full = false;
	handover_give(&a->to);
}

static void call_directly(struct facts_apart *a)
{
	for (int i = 0; i < FACTS; i++)
		if (puts_of[i] && a->behind.of[i].n)
			a->facts->of[i] = a->behind.of[i];
	a->is_over = true;
}

static void answer(void *arg)
{
	struct facts_apart *a = arg;

	a->is_between = true;
	*a->due.flag = false;
	a->due.between(a->due.arg);
	a->is_between = false;
}

void facts_apart_await(struct facts_apart *a)
{
	if (a->turn.is_idle || a->is_between)
		return;
	if (a->buffer && a->buffer->n)
		give(a);
	handover_await(&a->to);
	a->turn.is_idle = true;
	if (++a->waits > FIRST_FEW && a->bytes / a->waits < WORTH_IT)
		call_directly(a);
}

void facts_apart_turn(struct facts_apart *a)
{
	if (a->turn.is_idle && *a->due.flag) {
		answer(a);
	} else if (a->turn.is_full) {
		give(a);
		a->buffer = handover_empty(&a->to); /* now, as it may wait, and do what is due */
	}
	handover_look(&a->to);
}

static void put_last(void *arg, const void *fact)
{
	struct facts_apart *a = arg;

	facts_apart_await(a);
	if (!a->is_over)
		call_directly(a);
	facts_emit(&a->behind, ENDS_IT, fact);
}

/* ---- the listeners' thread ---- */

static void pass(const struct facts_apart *a, struct record *r)
{
	unsigned char *fact = (unsigned char *)(r + 1), *from = (unsigned char *)r + r->size;

	for (int i = a->copies[r->kind]; i-- > 0;) {
		const struct copied *k = &a->copied[r->kind][i];
		const void *to;

		from -= k->bytes;
		memcpy(&to, fact + k->at, sizeof(to));
		if (to)
			memcpy(fact + k->at, &(const void *){from}, sizeof(to));
	}
	facts_emit(&a->behind, r->kind, fact);
}

static void *run(void *arg)
{
	struct facts_apart *a = arg;
	struct handover_buffer *b;
	uint64_t event = 0; /* of the last fact */

	while ((b = handover_full(&a->to))) {
		if (event < a->since) /* what was due before has been done, or is not due yet */
			event = a->since;
		for (size_t i = 0, n = b->n; i < n;) {
			struct record *r = (struct record *)(void *)(b->bytes + i);

			if (r->event != event && *a->due.flag)
				handover_ask(&a->to);
			event = r->event;
			pass(a, r);
			i += r->size;
		}
		if (b->mark != event && *a->due.flag)
			handover_ask(&a->to);
		handover_return(&a->to);
	}
	return NULL;
}

/* ---- begin and end ---- */

_Static_assert(offsetof(struct fact_address, addr) == 0, "it begins with its pointer");

static void find_copied(struct facts_apart *a)
{
	for (int i = 0; i < FACTS; i++)
		for (int k = 0; puts_of[i] && k < fact_table[i].columns; k++) {
			const struct fact_column *c = &fact_table[i].column[k];
			bool is_address = c->type == FACT_TYPE_ADDRESS;
			bool is_of_event = i == FACT_state &&
					   c->offset == offsetof(struct fact_state, algorithm);

			if (is_address || is_of_event)
				a->copied[i][a->copies[i]++] = (struct copied){
					c->offset, is_address ? ADDRESS_BYTES : TEXT_BYTES};
		}
}

static void take_over(struct facts_apart *a)
{
	for (int i = 0; i < FACTS; i++) {
		struct fact_listeners *of = &a->facts->of[i];
		fact_fn fn = i == ENDS_IT ? put_last : puts_of[i];

		a->behind.of[i] = *of;
		if (!fn || !of->n)
			continue;
		*of = (struct fact_listeners){.n = 1, .once = of->once};
		of->listener[0].fn = fn;
		of->listener[0].arg = a;
	}
}

struct facts_apart *facts_apart_begin(struct facts *f, const struct facts_due *due)
{
	struct facts_apart *a =
		has_two_cpus() ? mg_aligned_alloc(_Alignof(struct facts_apart), sizeof(*a)) : NULL;

	if (!a)
		return NULL;
	*a = (struct facts_apart){.facts = f,
		.due = *due,
		.turn = {.is_idle = true, .due = due->flag, .asks = &a->to.asks}};
	find_copied(a);
	if (!handover_init(&a->to)) {
		free(a);
		return NULL;
	}
	a->to.answer = answer;
	a->to.arg = a;
	if (!thread_start(&a->thread, "magnet-facts", run, a)) {
		handover_free(&a->to);
		free(a);
		return NULL;
	}
	take_over(a);
	return a;
}

void facts_apart_end(struct facts_apart *a)
{
	facts_apart_await(a);
	if (!a->is_over)
		call_directly(a);
	a->facts->of[ENDS_IT] = a->behind.of[ENDS_IT];
	handover_end(&a->to);
	pthread_join(a->thread, NULL);
	handover_free(&a->to);
	free(a);
}
