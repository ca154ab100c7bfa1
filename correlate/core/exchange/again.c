/* SPDX-License-Identifier: MIT */
#include "exchange/again.h"

#include "event_table.h"
#include "task/blocked.h"
#include "task/past.h"
#include "task/thread.h"
#include "task/threads.h"

/* A client waited for a reply if this part of the time between its calls, or more, was a wait. */
#define WAITED_PART 2

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Returns whether the thread waited for bytes since then, and in the end none came: a timer ended
 * the last of these waits.
 */
static bool has_timed_out(struct core *c, uint32_t tid, uint64_t since, uint64_t now)
{
	const struct thread *t = thread_get(c, tid, 0);
	const struct past_wait *p;
	uint64_t waited = 0;

	for (uint64_t i = t ? t->past.last : 0; (p = past_wait(c, i)) && p->end > since;
		i = p->before) {
		uint64_t begin = later(p->begin, since);

		if (p->end > now || p->why != WAIT_BLOCKED || p->woken <= begin ||
			!blocked_for_bytes(p->call))
			continue;
		if (!waited && (p->waker || p->by_socket))
			return false;
		waited += p->woken - begin;
	}
	return waited * WAITED_PART >= now - since && waited;
}

/* Has the server that read the request know that nobody waits for its reply any more. */
static void tell_server(struct core *c, const struct exchange *e, uint64_t now)
{
	uint64_t cookie = e->there.by;
	struct mg_sock *s = NULL;
	struct exchange *there;

	if (!e->there.request_last)
		return;
	HASH_FIND(hh, c->sockets.socks, &cookie, sizeof(cookie), s);
	there = s && s->exchanges && s->exchanges->is_server ? &s->exchanges->now : NULL;
	if (there && there->request.calls && !there->reply.calls &&
		there->edge[REQUEST_LAST].t == e->there.request_last)
		there->given_up = now;
}

void again_on_request(struct core *c, struct mg_sock *s, const struct exchange_call *k)
{
	struct exchange *e = &s->exchanges->now;
	uint64_t since = e->edge[REQUEST_LAST].exit;

	if (s->kind != MG_KIND_udp || s->exchanges->is_server || !e->request.calls ||
		e->reply.calls || k->enter <= since ||
		e->request.bytes != e->request.calls * k->bytes ||
		!has_timed_out(c, k->tid, since, k->enter))
		return;
	e->again++;
	e->no_reply += k->enter - since;
	tell_server(c, e, k->enter);
}
