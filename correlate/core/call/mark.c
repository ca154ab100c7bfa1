/* SPDX-License-Identifier: MIT */
/* Ties points that the program marks to the bytes its thread moves around them. */
#include "call/mark.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "socket/socket.h"
#include "task/threads.h"

static struct mark *add(struct core *c)
{
	if (c->marked.marks_n == MARKS_MAX) {
		c->marked.marks_more++;
		return NULL;
	}
	if (c->marked.marks_n == c->marked.marks_cap) {
		uint32_t cap = c->marked.marks_cap ? c->marked.marks_cap * 2 : 64;
		struct mark *more = mg_realloc(c->marked.marks, cap * sizeof(*more));

		if (!more)
			return NULL;
		c->marked.marks = more;
		c->marked.marks_cap = cap;
	}
	memset(&c->marked.marks[c->marked.marks_n], 0, sizeof(*c->marked.marks));
	return &c->marked.marks[c->marked.marks_n++];
}

static struct fact_flow_id flow_of(const struct span *s)
{
	return (struct fact_flow_id){s->sock, s->rx};
}

static struct fact_mark fact_of(const struct mark *m)
{
	bool sent = m->sent.sock, received = m->received.sock;

	return (struct fact_mark){.time = m->t,
		.pid = m->pid,
		.tid = m->tid,
		.name = m->name,
		.id = m->id,
		.value = m->value,
		.received = flow_of(&m->received),
		.received_offset = received ? m->received.off : FACT_NONE,
		.received_length = received ? m->received.len : FACT_NONE,
		.sent = flow_of(&m->sent),
		.sent_offset = sent ? m->sent.off : FACT_NONE,
		.sent_length = sent ? m->sent.len : FACT_NONE};
}

bool core_next_mark(const struct core *c, uintptr_t *at, struct fact_mark *to)
{
	if (*at >= c->marked.marks_n)
		return false;
	*to = fact_of(&c->marked.marks[(*at)++]);
	return true;
}

static void tell(const struct core *c, const struct mark *m)
{
	struct fact_mark f = fact_of(m);

	emit_mark(&c->facts, &f);
}

void marks_finish(struct core *c)
{
	for (uint32_t i = 0; i < c->marked.marks_n; i++)
		if (!c->marked.marks[i].sent.sock)
			tell(c, &c->marked.marks[i]);
}

void mark_on_event(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a)
{
	const struct mg_mark *p = &e->mark;
	struct mark *m = add(c), not_kept = {0}, *of = m ? m : &not_kept;

	if (t->received.sock) {
		a->sock = sock_find(c, t->received.sock);
		a->rx = true;
		a->has_offset = true;
		a->offset = t->received.off;
		a->length = t->received.len;
	}
	memcpy(of->name, p->name, sizeof(p->name));
	of->id = p->id;
	of->value = p->value;
	of->tid = p->tid;
	of->pid = p->pid;
	of->t = p->at;
	of->received = t->received;
	if (!m) { /* it cannot wait for what its thread sends */
		tell(c, of);
		return;
	}
	m->next = t->marks_waiting;
	t->marks_waiting = c->marked.marks_n;
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
		struct mark *m = &c->marked.marks[t->marks_waiting - 1];

		m->sent = s;
		t->marks_waiting = m->next;
		m->next = 0;
		tell(c, m);
	}
}
