/* SPDX-License-Identifier: MIT */
#include "task/past.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "task/blocked.h"
#include "task/thread.h"
#include "task/threads.h"

#define ROOM_LEAST 256
#define ROOM_MOST  65536 /* as many are some 8 MB */

/* Makes room for one more. Returns false if there is none at all. */
static bool make_room(struct past *p)
{
	uint32_t room = p->room ? 2 * p->room : ROOM_LEAST;
	struct past_wait *wait;

	if (p->next < p->room)
		return true;
	if (room > ROOM_MOST || (p->room && p->next > p->room))
		return p->room;
	wait = mg_realloc(p->wait, room * sizeof(*wait));
	if (!wait)
		return p->room;
	p->wait = wait; /* it was full, but not overwritten: each stays in its place */
	p->room = room;
	return true;
}

static void keep(struct core *c, struct thread *t, const struct past_wait *w)
{
	struct past *p = &c->tasks.past;
	struct past_wait *to;

	if (!make_room(p))
		return;
	to = &p->wait[p->next & (p->room - 1)];
	if (p->next >= p->room && to->end > p->forgotten)
		p->forgotten = to->end;
	*to = *w;
	to->thread = t;
	to->before = t->past.last;
	t->past.last = ++p->next;
	/* the next one has left the caches since it was written */
	to = &p->wait[p->next & (p->room - 1)];
	__builtin_prefetch(to, 1);
	__builtin_prefetch((const char *)(to + 1) - 1, 1);
}

void past_keep(struct core *c, struct thread *t, const struct fact_wait *f)
{
	struct past_wait w = {.begin = f->begin,
		.woken = f->woken,
		.end = f->end,
		.call = f->call,
		.descriptor = f->descriptor,
		.port = f->remote.port,
		.why = f->why,
		.blocked_in = f->blocked_in,
		.io = f->io,
		.has_peer = f->remote.addr,
		.by_socket = f->woken_by != FACT_NONE};

	if (f->remote.addr && blocked_for_client(c, f)) /* it is no service */
		w.port = 0;
	else if (f->remote.addr)
		memcpy(w.addr, f->remote.addr, sizeof(w.addr));
	if (f->waker != FACT_NONE)
		w.waker = thread_get(c, (uint32_t)f->waker, 0);
	if (!w.begin && t->past.born) { /* it runs for the first time */
		w.begin = w.woken = t->past.born;
		w.waker = t->past.parent;
		w.why = WAIT_BLOCKED;
	}
	t->past.born = 0;
	keep(c, t, &w);
}

void past_missed(struct core *c, struct thread *t, uint64_t from, uint64_t to)
{
	if (past_wanted(c))
		keep(c, t, &(struct past_wait){.begin = from, .end = to, .why = FACT_NO_WORD});
}

void past_born(struct core *c, struct thread *child, uint32_t parent, uint64_t now)
{
	if (!past_wanted(c) || !parent)
		return;
	child->past.born = now;
	child->past.parent = thread_get(c, parent, 0);
}

const struct past_wait *past_wait(const struct core *c, uint64_t number)
{
	const struct past *p = &c->tasks.past;

	if (!number || number > p->next || p->next - number >= p->room)
		return NULL;
	return &p->wait[(number - 1) & (p->room - 1)];
}

uint64_t past_first(const struct core *c, uint64_t from)
{
	const struct past *p = &c->tasks.past;
	uint64_t lo = p->next > p->room ? p->next - p->room + 1 : 1, hi = p->next + 1;

	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (past_wait(c, mid)->end < from)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

void past_free(struct core *c)
{
	free(c->tasks.past.wait);
}
