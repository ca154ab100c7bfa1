/* SPDX-License-Identifier: MIT */
/* Emits the recorded protocol state of each connection. */
#include "stream/state.h"

#include <string.h>

#include "core.h"
#include "event_table.h"
#include "tcp_names.h"
#include "socket/anchor.h"
#include "socket/socket.h"
#include "stream/buffer.h"
#include "stream/why.h"
#include "stream/why_split.h"

#define SYN_OR_RST 6

/* Sets a column to "not known", by its type. */
#define UNSET_TIME(to)
#define UNSET_FLOW(to)
#define UNSET_COUNT(to)              to = FACT_NONE;
#define UNSET_TEXT(to)               to = NULL;
#define UNSET_MAYBE(to)              to = FACT_MAYBE;
#define UNSET(fact, type, name, doc) UNSET_##type(f.name)
#define NO(...)

/* Returns a fact of the connection in which nothing is known yet. */
static struct fact_state nothing(const struct mg_sock *s, uint64_t now)
{
	struct fact_state f = {.time = now, .flow = flow_fact(&s->tx)};

	MG_FACT_state(state, UNSET, NO, NO);
	return f;
}

/* Returns a text of the event with an end, until the next one is taken. */
#define TERMINATED(text) (memcpy(copy, text, sizeof(text)), copy)

/* Emits what the event says of the connection, by the columns' table. */
static void emit(const struct core *c, const struct mg_sock *s, const struct mg_event *e)
{
	struct fact_state f = nothing(s, e->cycles);
	char copy[sizeof(mg_text32) + 1] = "";

	switch (e->id) {
#define FILL(column, value, known) \
	if (known)                 \
		f.column = value;
#define EVENT(name)                                   \
	case MG_EVENT_##name: {                       \
		const struct mg_##name *p = &e->name; \
                                                      \
		MG_STATE_##name(FILL);                \
		break;                                \
	}
		MG_STATE_EVENTS(EVENT)
	}
	emit_state(&c->facts, &f);
}

/*
 * Uses the headers of arriving segments once an end has closed and TCP has no event for them any
 * more. A segment older than the last one carries no current window.
 */
void state_on_arrival(struct core *c, struct mg_sock *s, const struct mg_packet *p, uint64_t now)
{
	bool closed = p->zero_window;
	uint64_t ack;

	if (closed == s->tx.ack.no_window || p->tcp_flags & SYN_OR_RST ||
		s->state == MG_TCP_CLOSE || !flow_offset(&s->tx, p->ack, &ack) ||
		ack < s->tx.ack.to)
		return;
	s->tx.ack.no_window = closed;
	if (facts_wanted(&c->facts, FACT_state)) {
		struct fact_state f = nothing(s, now);

		f.peer_window_zero = closed;
		emit_state(&c->facts, &f);
	}
}

void state_on_event(struct core *c, const struct mg_event *e, struct annotation *a)
{
	struct mg_sock *s = sock_get(c, e->tcp_state.sock); /* the first field of all of them */

	if (e->id == MG_EVENT_tcp_window)
		a->rx = e->tcp_window.own;
	if (!s)
		return;
	flow_lives(&s->tx, e->cycles);
	switch (e->id) {
	case MG_EVENT_tcp_state:
		why_on_state(&s->tx, &e->tcp_state);
		break;
	case MG_EVENT_tcp_more:
		buffer_on_state(c, s, e);
		break;
	case MG_EVENT_tcp_limits:
		why_on_limits(&s->tx, &e->tcp_limits);
		break;
	case MG_EVENT_tcp_cong:
		why_on_congestion(&s->tx, &e->tcp_cong, e->cycles);
		break;
	case MG_EVENT_tcp_window:
		if (!e->tcp_window.own)
			s->tx.ack.no_window = e->tcp_window.closed;
		break;
	}
	if (facts_wanted(&c->facts, FACT_state))
		emit(c, s, e);
}
