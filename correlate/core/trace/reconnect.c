/* SPDX-License-Identifier: MIT */
/* Sockets that a program connects again. */
#include "trace/reconnect.h"

#include <stdlib.h>

#include "alloc.h"
#include "event_table.h"
#include "call/call.h"
#include "socket/socket.h"
#include "task/thread.h"
#include "task/threads.h"
#include "trace/dispatch.h"

struct reconnected {
	uint64_t cookie;
	uint64_t now; /* number of its latest connection */
	UT_hash_handle hh;
};

static struct thread *thread_in_call(const struct core *c, const struct mg_event *e)
{
	struct thread *t = thread_find(c, e->tid);

	return t && t->in_call ? t : NULL;
}

static uint64_t cookie_of(uint64_t number)
{
	return number & (FLOW_CONNECTION - 1);
}

/*
 * Returns whether the event begins a connection on a socket that was connected before. With filters
 * it may be known only once it is established that the connection is recorded; one with data in its
 * SYN is reported as open before that. Announcements, which are on no CPU, begin none.
 */
static bool connects_again(struct core *c, const struct mg_event *e, uint64_t number)
{
	const struct mg_sock_state *p = &e->sock_state;
	bool connects = e->id == MG_EVENT_sock_state && p->opener && p->now == MG_TCP_SYN_SENT,
	     is_open = e->id == MG_EVENT_sock_open ||
		       (e->id == MG_EVENT_sock_state && p->opener && p->now == MG_TCP_ESTABLISHED);
	const struct mg_sock *s;

	if ((!connects && !is_open) || e->cpu < 0)
		return false;
	s = sock_find(c, number);
	return s && s->met.opened && (connects || s->state == MG_TCP_CLOSE);
}

/* Returns the socket's entry with the number of its next connection; NULL if memory is short. */
static struct reconnected *next_of(struct core *c, struct reconnected *r, uint64_t cookie)
{
	if (!r) {
		r = mg_calloc(1, sizeof(*r));
		if (!r)
			return NULL;
		r->cookie = r->now = cookie;
		HASH_ADD(hh, c->sockets.again, cookie, sizeof(r->cookie), r);
		r = hash_kept(r);
		if (!r)
			return NULL;
	}
	/* there is room for a hundred thousand; the last is never left */
	if (r->now + FLOW_CONNECTION < FLOW_CONNECTIONS_END)
		r->now += FLOW_CONNECTION;
	return r;
}

void reconnect_on_event(struct core *c, struct mg_event *e)
{
	/* in every payload that has one, the cookie is the first field */
	uint64_t cookie = e->sys_enter.sock, before;
	struct reconnected *r = NULL;
	struct thread *t;

	if (!event_has_sock(e->id) || cookie >= FLOW_CONNECTION)
		return;
	HASH_FIND(hh, c->sockets.again, &cookie, sizeof(cookie), r);
	before = r ? r->now : cookie;
	if (connects_again(c, e, before)) {
		r = next_of(c, r, cookie);
		t = thread_in_call(c, e);
		if (r && t && t->now.cookie == before) /* it may send in the same call */
			call_moves_to(c, t, r->now);
	}
	if (!r)
		return;
	t = e->id == MG_EVENT_sys_exit ? thread_in_call(c, e) : NULL;
	if (t && cookie_of(t->now.cookie) == cookie) /* it began on an earlier connection */
		e->sys_enter.sock = t->now.cookie;
	else
		e->sys_enter.sock = r->now;
}

void reconnect_free(struct core *c)
{
	struct reconnected *r, *tmp;

	HASH_ITER (hh, c->sockets.again, r, tmp) {
		HASH_DEL(c->sockets.again, r);
		free(r);
	}
}
