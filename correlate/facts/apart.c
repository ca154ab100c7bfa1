/* SPDX-License-Identifier: MIT */
#include "facts/apart.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "clock.h"

/*
 * Facts that are handed over, and the structs in which the core emits them. The listeners of other
 * kinds read what the core knows at the time, or keep nothing that these do. Texts stay until the
 * core's end, as they are names that are kept once; only that of a congestion control comes out of
 * its event.
 */
/* clang-format off */
#define HANDED_OVER(X) \
	X(range, fact_range) X(call, call_told) X(wait, fact_wait) \
	X(switch, fact_switch) X(switch_cost, fact_switch_cost) X(state, fact_state) \
	X(resent, fact_resent) X(crossing, fact_crossing) X(unsent, fact_unsent) \
	X(refusal, fact_refusal) X(zerocopy, fact_zerocopy) X(timed_send, fact_timed_send) \
	X(in_program, fact_in_program) \
	X(before_read, fact_before_read) X(during_reply, fact_during_reply) \
	X(exchange, fact_exchange)
/* clang-format on */

/*
 * Facts whose listeners need the core's present state together with that of the others: they, and
 * all that follow, are given directly.
 */
#define ENDS_IT FACT_stack

/* A thread that has to be waited for more often than once in so many bytes does not pay. */
#define WORTH_IT  (HANDOVER_SIZE / 4)
#define FIRST_FEW 64

/*
 * Who of the two threads has less to do sums up the calls, which need nothing of a flow: the
 * listeners' thread, until the core has waited for it more than an eighth of the time, and again
 * when it hardly waits any more. That is judged by many buffers at a time, as the core has the
 * events of a tenth of a second at once.
 */
#define WAITED_MOST  8
#define WAITED_LEAST 64
#define JUDGED_BY    128

/* Words, as they are written together (handover_pair()). */
struct record {
	/*
	 * kind of the fact, and RECORD_SIZE times the record's bytes, a multiple of 16, with this
	 * head and the copies behind the fact
	 */
	uint64_t kind_size;
	uint64_t event; /* number of the event */
};
#define RECORD_SIZE       256
#define RECORD_KIND_OF(r) ((r)->kind_size % RECORD_SIZE)
#define RECORD_SIZE_OF(r) ((size_t)((r)->kind_size / RECORD_SIZE))

/*
 * A packet, which is what most facts are, in as many bytes as a line of the cache has. Numbers but
 * `offset` are one more, so that FACT_NONE is 0.
 */
struct packed_packet {
	struct record head;
	uint64_t time, sock;
	uint64_t state_rx; /* the flow's `state`, a multiple of 8, and `rx` */
	uint64_t offset;
	uint32_t payload, fresh;
	uint32_t packets, layer_wire; /* the layer times LAYER_WIRE, and `wire` */
};
#define PACKED_PACKET FACTS /* its kind */
#define LAYER_WIRE    (1u << 26)
_Static_assert(FACT_LAYER(1, RX_LAYERS) <= UINT32_MAX / LAYER_WIRE, "the layer has room");

/* The end of a connection, of whose flow a listener may keep a state at that place. */
struct ended {
	struct record head;
	void **state;
	uint64_t now;
};
#define ENDED (FACTS + 1) /* its kind */
_Static_assert(ENDED < RECORD_SIZE, "a kind is less than RECORD_SIZE");

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
	facts_ended_fn ended;
	pthread_t thread;
	uint8_t copies[FACTS];
	struct copied copied[FACTS][COPIES];
	struct handover to;
	/* of the core's thread */
	HANDOVER_LINES struct handover_buffer *buffer; /* being filled; NULL: none yet */
	/* event since whose facts something has been on its way to the listeners */
	uint64_t since;
	bool is_between;                 /* they wait, for `due` */
	bool is_over;                    /* they are called directly */
	bool has_calls;                  /* those of calls are: */
	struct fact_listeners puts_call; /* who gets them otherwise */
	uint64_t bytes, waits; /* bytes given, and times that the listeners were waited for */
	/* of the buffers that are judged together: the first, its time, and that waited before */
	uint64_t first, begin_ns, waited_ns;
};

/* ---- the core's thread ---- */

/* Copies what a fact points to, and returns its end; only a NULL needs no copy. */
static unsigned char *copy(unsigned char *to, const void *from, uint16_t bytes)
{
	unsigned char words[TEXT_BYTES] = {0};

	if (from && bytes == ADDRESS_BYTES)
		return handover_copy(to, from, ADDRESS_BYTES);
	if (from)
		memcpy(words, from, strnlen(from, TEXT_BYTES - 1));
	return handover_copy(to, words, bytes);
}

/* Returns room for a record of so many bytes; NULL without memory. */
static inline unsigned char *room(struct facts_apart *a, size_t bytes)
{
	unsigned char *at;

	if (!a->buffer)
		a->buffer = handover_empty(&a->to);
	at = handover_room(a->buffer, bytes);
	if (!at)
		return NULL;
	a->buffer->n += bytes;
	a->turn.is_full = a->buffer->n >= HANDOVER_SIZE;
	if (a->turn.is_idle)
		a->since = a->turn.event;
	a->turn.is_idle = false;
	return at;
}

/* Copies a fact, and behind it what must not be pointed to. */
static inline __attribute__((always_inline)) void put(
	struct facts_apart *a, enum fact kind, const void *fact, size_t size)
{
	size_t bytes = sizeof(struct record) + HANDOVER_ALIGNED(size);
	unsigned char *at;

	for (int i = 0; i < a->copies[kind]; i++)
		bytes += a->copied[kind][i].bytes;
	at = room(a, bytes);
	if (!at)
		return;
	at = handover_pair(at, kind + RECORD_SIZE * bytes, a->turn.event);
	at = handover_copy(at, fact, size);
	for (int i = 0; i < a->copies[kind]; i++) {
		const struct copied *k = &a->copied[kind][i];
		const void *from;

		memcpy(&from, (const char *)fact + k->at, sizeof(from));
		at = copy(at, from, k->bytes);
	}
}

/* Writes a packet packed, where its numbers are not too large. */
static void put_packet(void *arg, const void *fact)
{
	const struct fact_packet *f = fact;
	struct facts_apart *a = arg;
	uint64_t payload = f->payload + 1, fresh = f->fresh + 1;
	uint64_t packets = f->packets + 1, wire = f->wire + 1;
	unsigned char *at;

	if ((payload | fresh | packets) >> 32 || wire >= LAYER_WIRE) {
		put(a, FACT_packet, fact, sizeof(*f));
		return;
	}
	at = room(a, sizeof(struct packed_packet));
	if (!at)
		return;
	at = handover_pair(
		at, PACKED_PACKET + RECORD_SIZE * sizeof(struct packed_packet), a->turn.event);
	at = handover_pair(at, f->time, f->flow.sock);
	at = handover_pair(at, (uintptr_t)f->flow.state | f->flow.rx, f->offset);
	handover_pair(at, payload | fresh << 32, packets | (f->layer * LAYER_WIRE | wire) << 32);
}

static void tell_ended(const struct facts_apart *a, void **state, uint64_t now)
{
	if (*state)
		a->ended(*state, now);
}

void facts_apart_ended(struct facts_apart *a, void **state, uint64_t now)
{
	unsigned char *at;

	if (a->is_over) {
		tell_ended(a, state, now);
		return;
	}
	at = room(a, sizeof(struct ended));
	if (!at)
		return;
	at = handover_pair(at, ENDED + RECORD_SIZE * sizeof(struct ended), a->turn.event);
	handover_pair(at, (uintptr_t)state, now);
}

#define PUT(name, type)                                           \
	static void put_##name(void *arg, const void *fact)       \
	{                                                         \
		put(arg, FACT_##name, fact, sizeof(struct type)); \
	}
HANDED_OVER(PUT)

static const fact_fn puts_of[FACTS] = {
#define PUTS(name, type) [FACT_##name] = put_##name,
	[FACT_packet] = put_packet, HANDED_OVER(PUTS)};

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

/* Has the calls summed up by the core's thread from now on. */
static void take_calls(struct facts_apart *a)
{
	facts_apart_await(a);
	a->puts_call = a->facts->of[FACT_call];
	a->facts->of[FACT_call] = a->behind.of[FACT_call];
	a->has_calls = true;
}

/* Has the listeners' thread sum them up: it gets the next one behind all before. */
static void leave_calls(struct facts_apart *a)
{
	a->facts->of[FACT_call] = a->puts_call;
	a->has_calls = false;
}

static void judge(struct facts_apart *a)
{
	uint64_t now, waited;

	if (a->is_over || a->to.given - a->first < JUDGED_BY)
		return;
	now = mg_monotonic_ns();
	waited = a->to.waited_ns - a->waited_ns;
	if (!a->has_calls && waited > (now - a->begin_ns) / WAITED_MOST)
		take_calls(a);
	else if (a->has_calls && waited < (now - a->begin_ns) / WAITED_LEAST)
		leave_calls(a);
	a->first = a->to.given;
	a->begin_ns = now;
	a->waited_ns = a->to.waited_ns;
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

bool facts_apart_leave(struct facts_apart *a, struct errand *e)
{
	return handover_leave(&a->to, e);
}

bool facts_apart_done(struct facts_apart *a, struct errand *e)
{
	return handover_done(&a->to, e);
}

void facts_apart_turn(struct facts_apart *a)
{
	if (a->turn.is_idle && *a->due.flag) {
		answer(a);
	} else if (a->turn.is_full) {
		give(a);
		a->buffer = handover_empty(&a->to); /* now, as it may wait, and do what is due */
		judge(a);
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

static void pass_packed(const struct facts_apart *a, const struct packed_packet *p)
{
	emit_packet(&a->behind,
		&(struct fact_packet){.time = p->time,
			.flow = {.sock = p->sock,
				.rx = p->state_rx & 1,
				.state = (void **)(uintptr_t)(p->state_rx & ~(uint64_t)1)},
			.layer = (uint8_t)(p->layer_wire / LAYER_WIRE),
			.offset = p->offset,
			.payload = (uint64_t)p->payload - 1,
			.fresh = (uint64_t)p->fresh - 1,
			.packets = (uint64_t)p->packets - 1,
			.wire = (uint64_t)(p->layer_wire % LAYER_WIRE) - 1});
}

static void pass(const struct facts_apart *a, struct record *r)
{
	enum fact kind = RECORD_KIND_OF(r);
	unsigned char *fact = (unsigned char *)(r + 1);
	unsigned char *from = (unsigned char *)r + RECORD_SIZE_OF(r);

	for (int i = a->copies[kind]; i-- > 0;) {
		const struct copied *k = &a->copied[kind][i];
		const void *to;

		from -= k->bytes;
		memcpy(&to, fact + k->at, sizeof(to));
		if (to)
			memcpy(fact + k->at, &(const void *){from}, sizeof(to));
	}
	facts_emit(&a->behind, kind, fact);
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
			if (RECORD_KIND_OF(r) == PACKED_PACKET)
				pass_packed(a, (const struct packed_packet *)r);
			else if (RECORD_KIND_OF(r) == ENDED)
				tell_ended(a, ((const struct ended *)r)->state,
					((const struct ended *)r)->now);
			else
				pass(a, r);
			i += RECORD_SIZE_OF(r);
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

struct facts_apart *facts_apart_begin(
	struct facts *f, const struct facts_due *due, facts_ended_fn ended)
{
	struct facts_apart *a =
		has_two_cpus() ? mg_aligned_alloc(_Alignof(struct facts_apart), sizeof(*a)) : NULL;

	if (!a)
		return NULL;
	*a = (struct facts_apart){.facts = f,
		.due = *due,
		.ended = ended,
		.begin_ns = mg_monotonic_ns(),
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
