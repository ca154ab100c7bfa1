/* SPDX-License-Identifier: MIT */
#include "exchange/in_program.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "event_table.h"
#include "coverage/gap.h"
#include "task/past.h"
#include "task/thread.h"
#include "task/threads.h"

/* Parts of one exchange: by thread; of any thread; what has no room is one part of its kind. */
#define PARTS_BY_THREAD 16
#define PARTS_OF_ANY    26
#define PARTS           32

/*
 * The time before bytes were read is divided if it is this part of the time to the reply: of a
 * server's request, and of a client's reply.
 */
#define REQUEST_READ_PART 8
#define REPLY_READ_PART   4
/* The same of the time from a reply's first call to its last one, and of that until the last. */
#define REPLY_PART 4

struct program_part {
	uint64_t begin, time, times; /* first time, cycles */
	const char *call;
	uint64_t descriptor, tid, waker, pid;
	uint8_t addr[16];
	uint16_t port;
	uint8_t part, blocked_in, io, why;
	bool has_peer;
};

/* The parts of an exchange between these times. */
struct program_parts {
	uint64_t from, to;
	uint32_t n, room;
	struct program_part part[];
};

/* A walk back from a reply to its request. */
struct walk {
	struct core *c;
	uint64_t number;   /* as in struct thread_past */
	uint64_t from, to; /* from the request to the reply */
	struct thread *reader, *writer;
	bool joined; /* wakings lead from the one to the other */
	uint32_t n;
	struct program_part part[PARTS + 1]; /* and one that is being made */
};

/* ---- parts ---- */

static bool is_alike(const struct program_part *a, const struct program_part *b)
{
	return a->part == b->part && a->blocked_in == b->blocked_in && a->io == b->io &&
	       a->call == b->call && a->port == b->port && a->has_peer == b->has_peer &&
	       memcmp(a->addr, b->addr, sizeof(a->addr)) == 0;
}

/* Returns the part of the walk like this one; NULL if there is none. */
static struct program_part *find(struct walk *w, const struct program_part *p, bool by_thread)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (is_alike(&w->part[i], p) && (!by_thread || w->part[i].tid == p->tid))
			return &w->part[i];
	return NULL;
}

static uint64_t same(uint64_t a, uint64_t b)
{
	return a == b ? a : FACT_NONE;
}

/* Makes it a part that differs from others by its kind only. */
static void make_rest(struct program_part *p)
{
	*p = (struct program_part){.begin = p->begin,
		.time = p->time,
		.times = 1,
		.part = p->part,
		.why = p->why,
		.tid = p->tid,
		.pid = p->pid,
		.descriptor = FACT_NONE,
		.waker = FACT_NONE,
		.blocked_in = FACT_NO_WORD,
		.io = FACT_MAYBE};
}

/*
 * Takes the part that was written behind the others: adds it to one like it, or keeps it there, as
 * a copy of what has just been written costs more than all else here.
 */
static void take(struct walk *w)
{
	struct program_part *p = &w->part[w->n], *to = find(w, p, true);

	if (!to && w->n >= PARTS_BY_THREAD)
		to = find(w, p, false);
	if (!to && w->n >= PARTS_OF_ANY) {
		make_rest(p);
		to = find(w, p, false);
	}
	if (!to) {
		w->n++;
		return;
	}
	to->time += p->time;
	to->times++;
	to->begin = p->begin; /* the walk goes back */
	to->tid = same(to->tid, p->tid);
	to->pid = same(to->pid, p->pid);
	to->waker = same(to->waker, p->waker);
	to->descriptor = same(to->descriptor, p->descriptor);
}

/* Adds [from, to); `wait` is the wait in which the thread was, if it was blocked. */
static void add_time(struct walk *w, enum fact_program_part part, const struct thread *t,
	const struct past_wait *wait, uint64_t from, uint64_t to)
{
	struct program_part *p = &w->part[w->n];

	if (to <= from)
		return;
	*p = (struct program_part){.begin = from,
		.time = to - from,
		.times = 1,
		.part = (uint8_t)part,
		.why = FACT_NO_WORD,
		.tid = t ? t->tid : FACT_NONE,
		.pid = t ? t->pid : FACT_NONE,
		.descriptor = FACT_NONE,
		.waker = FACT_NONE,
		.blocked_in = FACT_NO_WORD,
		.io = FACT_MAYBE};
	if (part == PROGRAM_UNKNOWN)
		p->why = NOT_DIVIDED_UNSEEN;
	if (wait && (part == PROGRAM_BLOCKED || part == PROGRAM_UNDIVIDED)) {
		p->blocked_in = wait->blocked_in;
		p->io = wait->io;
		p->call = wait->call;
		p->descriptor = wait->descriptor;
		p->port = wait->port;
		p->has_peer = wait->has_peer && wait->port;
		memcpy(p->addr, wait->addr, sizeof(p->addr));
		if (wait->waker)
			p->waker = wait->waker->tid;
	}
	take(w);
}

/* ---- the walk ---- */

/*
 * Returns whether who ended a wait did so by work for the same request: a thread of the program,
 * or another one that is not asked over a connection.
 */
static bool may_lead(const struct past_wait *p)
{
	return p->waker && !p->has_peer && (!p->by_socket || p->waker->pid == p->thread->pid);
}

/* Returns whether work for the request has reached the thread by then. */
static bool is_reached(const struct walk *w, const struct thread *t, uint64_t time)
{
	return t->past.walk == w->number && t->past.since && t->past.since <= time;
}

static void reach(struct walk *w, struct thread *t, uint64_t since)
{
	if (t->past.walk == w->number && t->past.since && t->past.since <= since)
		return;
	if (t->past.walk != w->number)
		t->past.at = t->past.last;
	t->past.walk = w->number;
	t->past.since = since;
}

/* Returns whether the thread was woken by another one meanwhile. */
static bool was_woken(const struct walk *w, const struct thread *t)
{
	const struct past_wait *p;

	for (uint64_t i = t->past.last; (p = past_wait(w->c, i)) && p->end > w->from; i = p->before)
		if (may_lead(p))
			return true;
	return false;
}

/*
 * Notes which threads the request may have reached, by wakings from the thread that read it. A
 * thread that wakes another has run before: the wait that ended there stands earlier.
 */
static void spread(struct walk *w)
{
	const struct past_wait *p;

	reach(w, w->reader, w->from);
	if (w->reader == w->writer && !was_woken(w, w->writer))
		return;
	for (uint64_t i = past_first(w->c, w->from); (p = past_wait(w->c, i)) && p->end <= w->to;
		i++)
		if (p->woken >= w->from && may_lead(p) && is_reached(w, p->waker, p->woken))
			reach(w, p->thread, p->woken);
}

/* Returns the thread's last wait that ended by then, and in the walk; NULL if there is none. */
static const struct past_wait *wait_before(const struct walk *w, struct thread *t, uint64_t time)
{
	const struct past_wait *p;

	if (t->past.walk != w->number) {
		t->past.walk = w->number;
		t->past.since = 0;
		t->past.at = t->past.last;
	}
	while ((p = past_wait(w->c, t->past.at)) && p->end > time)
		t->past.at = p->before;
	if (!p || p->end <= w->from)
		return NULL;
	t->past.at = p->before;
	return p;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns since when the thread was off the CPU, if that is not recorded since it last ran. */
static uint64_t begin_of(const struct walk *w, const struct past_wait *p)
{
	const struct past_wait *before = past_wait(w->c, p->before);

	return later(w->from, p->begin ? p->begin : before ? before->end : 0);
}

/* Returns what a wait without a recorded wakeup is. */
static enum fact_program_part off_cpu_part(uint8_t why)
{
	return why == WAIT_PREEMPTED   ? PROGRAM_RUN_QUEUE
	       : why == WAIT_THROTTLED ? PROGRAM_THROTTLED
				       : PROGRAM_UNDIVIDED;
}

/*
 * Goes back over one wait, whose end is reached. Returns the time that is reached then; the thread
 * is another one if that had ended the wait by work for the request.
 */
static uint64_t over_wait(struct walk *w, const struct past_wait *p, struct thread **t)
{
	uint64_t begin = begin_of(w, p), runnable;

	if (p->why == FACT_NO_WORD && !p->woken) {
		add_time(w, PROGRAM_UNKNOWN, *t, p, begin, p->end);
		return begin;
	}
	if (!p->woken) {
		add_time(w, off_cpu_part(p->why), *t, p, begin, p->end);
		return begin;
	}
	runnable = later(p->woken, begin);
	add_time(w, PROGRAM_RUN_QUEUE, *t, p, runnable, p->end);
	if (runnable <= w->from)
		return runnable;
	if (w->joined && may_lead(p) && is_reached(w, p->waker, p->woken)) {
		*t = p->waker;
		return runnable;
	}
	add_time(w, p->begin ? PROGRAM_BLOCKED : PROGRAM_UNKNOWN, *t, p, begin, runnable);
	return begin;
}

static void walk_back(struct walk *w)
{
	struct thread *t = w->writer;
	uint64_t at = w->to;

	while (at > w->from) {
		const struct past_wait *p = wait_before(w, t, at);
		uint64_t ran = p ? p->end : w->from;

		add_time(w, PROGRAM_ON_CPU, t, NULL, ran, at);
		at = p ? over_wait(w, p, &t) : w->from;
	}
}

/* ---- exchanges ---- */

/* Returns why the time cannot be divided, FACT_NO_WORD if it can. */
static uint8_t why_not(const struct walk *w)
{
	if (!core_observes(w->c, MG_EVENT_sched_switch) ||
		!core_observes(w->c, MG_EVENT_sched_waking))
		return NOT_DIVIDED_NOT_RECORDED;
	if (gap_within(w->c, MG_LAYER_SCHED, w->from, w->to, -1, -1))
		return NOT_DIVIDED_LOST;
	if (w->c->tasks.past.forgotten > w->from)
		return NOT_DIVIDED_FORGOTTEN;
	if (!w->reader || !w->writer || !w->reader->traced || !w->writer->traced)
		return NOT_DIVIDED_UNSEEN;
	return FACT_NO_WORD;
}

static void divide(struct walk *w, const struct exchange *e)
{
	uint64_t until = e->busy_until;

	w->number = ++w->c->tasks.past.walks;
	spread(w);
	w->joined = is_reached(w, w->writer, w->to);
	if (w->joined) {
		walk_back(w);
		return;
	}
	/* the thread was busy with another request, or what joins the two is not recorded */
	if (until > w->from && until < w->to) {
		uint64_t from = w->from;

		w->from = until;
		walk_back(w);
		w->from = from;
	} else {
		until = w->to;
	}
	add_time(w, PROGRAM_HANDED_OVER, NULL, NULL, w->from, until);
}

static void begin(struct walk *w, struct core *c, const struct exchange_edge *first,
	const struct exchange_edge *last, uint64_t from, uint64_t to)
{
	w->c = c;
	w->n = 0;
	w->from = from;
	w->to = to;
	w->joined = false;
	w->reader = thread_get(c, first->tid, 0);
	w->writer = thread_get(c, last->tid, 0);
}

/* Returns whether these are the parts of that time. */
static bool is_divided(const struct program_parts *p, uint64_t from, uint64_t to)
{
	return p && p->from == from && p->to == to;
}

/* Keeps the parts of a walk; NULL without memory. */
static void keep(struct program_parts **to, const struct walk *w)
{
	struct program_parts *p = *to;

	if (!p || p->room < w->n) {
		free(p);
		p = *to = mg_malloc(sizeof(*p) + w->n * sizeof(w->part[0]));
		if (!p)
			return;
		p->room = w->n;
	}
	p->from = w->from;
	p->to = w->to;
	p->n = w->n;
	memcpy(p->part, w->part, w->n * sizeof(w->part[0]));
}

/*
 * Divides the time from the arrival of what an end waits for until it was read; `whole` is the time
 * to the reply, of which it must be one part in `least`.
 */
static void divide_before_read(struct core *c, struct exchange *e, const struct exchange_edge *read,
	uint64_t whole, unsigned int least)
{
	struct walk w;

	if (!facts_wanted(&c->facts, FACT_before_read) || !e->arrived || e->arrived >= read->t ||
		is_divided(e->before_read, e->arrived, read->t) ||
		(read->t - e->arrived) * least < whole)
		return;
	begin(&w, c, read, read, e->arrived, read->t);
	if (why_not(&w) != FACT_NO_WORD)
		return;
	w.number = ++c->tasks.past.walks;
	walk_back(&w);
	keep(&e->before_read, &w);
}

/* A client that waits for its reply in the call that reads it has nothing to be divided. */
static void divide_client(struct core *c, struct exchange *e)
{
	const struct exchange_edge *sent = &e->edge[REQUEST_LAST], *read = &e->edge[REPLY_FIRST];

	if (read->exit && e->arrived > sent->t && e->read_began > e->arrived)
		divide_before_read(c, e, read, read->t - sent->t, REPLY_READ_PART);
}

void in_program_divide(struct core *c, const struct mg_sock *s, struct exchange *e)
{
	const struct exchange_edge *read = &e->edge[REQUEST_LAST], *write = &e->edge[REPLY_FIRST];
	struct walk w; /* its parts are many, and are not cleared for each exchange */
	uint8_t why;

	if (!past_wanted(c))
		return;
	if (!s->exchanges->is_server) {
		divide_client(c, e);
		return;
	}
	if (!read->exit || !write->exit || write->t <= read->t)
		return;
	divide_before_read(c, e, read, write->t - e->arrived, REQUEST_READ_PART);
	if (is_divided(e->program, read->t, write->t))
		return;
	begin(&w, c, read, write, read->t, write->t);
	why = why_not(&w);
	if (why == FACT_NO_WORD) {
		divide(&w, e);
	} else {
		add_time(&w, PROGRAM_UNKNOWN, NULL, NULL, w.from, w.to);
		w.part[0].why = why;
	}
	keep(&e->program, &w);
}

/* Divides the time from the first call that wrote, or read, a reply to the last one. */
static void divide_during_reply(struct core *c, const struct mg_sock *s, struct exchange *e)
{
	const struct exchange_edge *first = &e->edge[REPLY_FIRST], *last = &e->edge[REPLY_LAST];
	uint64_t since = e->arrived ? e->arrived : e->edge[REQUEST_LAST].t;
	struct walk w;

	if (!s->exchanges->is_server)
		since = e->edge[REQUEST_LAST].t;
	if (!facts_wanted(&c->facts, FACT_during_reply) || !first->exit || first->t >= last->t ||
		since > first->t || (last->t - first->t) * REPLY_PART < last->t - since)
		return;
	begin(&w, c, first, last, first->t, last->t);
	if (why_not(&w) != FACT_NO_WORD)
		return;
	w.number = ++c->tasks.past.walks;
	spread(&w);
	w.joined = is_reached(&w, w.writer, w.to);
	walk_back(&w);
	keep(&e->during_reply, &w);
}

static struct fact_in_program fact_of(
	const struct mg_sock *s, const struct exchange *e, const struct program_part *p)
{
	return (struct fact_in_program){
		.request = flow_fact(s->exchanges->is_server ? &s->rx : &s->tx),
		.ordinal = e->ordinal,
		.begin = p->begin,
		.time = p->time,
		.times = p->times,
		.pid = p->pid,
		.tid = p->tid,
		.part = p->part,
		.blocked_in = p->blocked_in,
		.call = p->call,
		.descriptor = p->descriptor,
		.io = p->io,
		.remote = {p->has_peer ? p->addr : NULL, p->port},
		.waker = p->waker,
		.why_unknown = p->why};
}

/* Emits the parts of an exchange as facts of this kind, all of which have the same columns. */
#define EMIT_PARTS(NAME, parts)                                                          \
	for (uint32_t i = 0; (parts) && i < (parts)->n; i++) {                           \
		struct fact_in_program f = fact_of(s, e, &(parts)->part[i]);             \
		struct fact_##NAME same;                                                 \
		_Static_assert(sizeof(f) == sizeof(same), "both have the same columns"); \
		memcpy(&same, &f, sizeof(f));                                            \
		emit_##NAME(&c->facts, &same);                                           \
	}

void in_program_emit(struct core *c, const struct mg_sock *s, struct exchange *e)
{
	in_program_divide(c, s, e);
	divide_during_reply(c, s, e);
	EMIT_PARTS(before_read, e->before_read)
	EMIT_PARTS(during_reply, e->during_reply)
	EMIT_PARTS(in_program, e->program)
}

static void hand_on(struct program_parts *p, struct program_parts **to)
{
	if (p)
		*p = (struct program_parts){.room = p->room};
	*to = p;
}

void in_program_hand_on(const struct exchange *told, struct exchange *next)
{
	hand_on(told->program, &next->program);
	hand_on(told->before_read, &next->before_read);
	hand_on(told->during_reply, &next->during_reply);
}

void in_program_free(struct exchange *e)
{
	free(e->program);
	free(e->before_read);
	free(e->during_reply);
	e->program = e->before_read = e->during_reply = NULL;
}
