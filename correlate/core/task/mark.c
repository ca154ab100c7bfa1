/* SPDX-License-Identifier: MIT */
/* Points the program marks, tied to the bytes its thread moves around them. */
#include "task/mark.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "socket/socket.h"
#include "task/threads.h"

static struct mark *add(struct core *c)
{
	if (c->marks_n == MARKS_MAX) {
		c->marks_more++;
		return NULL;
	}
	if (c->marks_n == c->marks_cap) {
		uint32_t cap = c->marks_cap ? c->marks_cap * 2 : 64;
		struct mark *more = mg_realloc(c->marks, cap * sizeof(*more));

		if (!more)
			return NULL;
		c->marks = more;
		c->marks_cap = cap;
	}
	memset(&c->marks[c->marks_n], 0, sizeof(*c->marks));
	return &c->marks[c->marks_n++];
}

void mark_on_event(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a)
{
	const struct mg_mark *p = &e->mark;
	struct mark *m = add(c);

	if (t->received.sock) {
		a->sock = sock_find(c, t->received.sock);
		a->rx = true;
		a->has_offset = true;
		a->offset = t->received.off;
		a->length = t->received.len;
	}
	if (!m)
		return;
	memcpy(m->name, p->name, sizeof(p->name));
	m->id = p->id;
	m->value = p->value;
	m->tid = p->tid;
	m->pid = p->pid;
	m->t = p->at;
	m->received = t->received;
	m->next = t->marks_waiting;
	t->marks_waiting = c->marks_n;
}

void mark_on_bytes(struct core *c, struct thread *t, const struct kernel_call *k)
{
	struct span s = {0};

	if (!k->pieces)
		return;
	s.sock = k->piece[0].flow->sock->cookie;
	s.rx = k->piece[0].flow->rx;
	s.off = k->piece[0].off;
	s.len = k->piece[k->pieces - 1].off + k->piece[k->pieces - 1].len - s.off;
	if (s.rx) {
		t->received = s;
		return;
	}
	while (t->marks_waiting) {
		struct mark *m = &c->marks[t->marks_waiting - 1];

		m->sent = s;
		t->marks_waiting = m->next;
	}
}
