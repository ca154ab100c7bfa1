/* SPDX-License-Identifier: MIT */
#include "socket/connect.h"

#include "event_table.h"
#include "coverage/gap.h"
#include "task/threads.h"

/*
 * Emits an attempt to connect. `end` is 0 if that was not seen; `now` is 0 if it is not known for
 * how long it lasted.
 */
static void tell_connect(struct core *c, struct mg_sock *s, uint64_t now, uint64_t end,
	enum fact_connect_outcome outcome)
{
	uint64_t begin = s->met.connecting;
	bool known = now > begin && !gap_within(c, MG_LAYER_TCP, begin, now, -1, -1);
	struct fact_connect f = {.flow = flow_fact(&s->tx),
		.pid = s->user.pid ? s->user.pid : FACT_NONE,
		.tid = s->user.tid ? s->user.tid : FACT_NONE,
		.program = s->user.program ? s->user.program->comm : NULL,
		.begin = begin,
		.end = known ? end : 0,
		.took = known ? now - begin : FACT_NONE,
		.outcome = outcome};

	f.local = sock_local(s);
	f.remote = sock_remote(s);
	s->met.connecting = 0;
	emit_connect(&c->facts, &f);
}

void connect_finish(struct core *c, struct mg_sock *s, uint64_t now)
{
	if (s->met.connecting)
		tell_connect(c, s, now, 0, CONNECT_OPEN);
}

static bool is_connecting(uint8_t state)
{
	return state == MG_TCP_SYN_SENT || state == MG_TCP_SYN_RECV;
}

void connect_on_state(struct core *c, struct mg_sock *s, const struct mg_event *e)
{
	uint8_t old = e->sock_state.old, now = e->sock_state.now;
	/* a state that has been for long, as told when recording begins or goes on */
	bool is_older = old == MG_TCP_NO_SOCKET;

	if (s->met.connecting && !is_connecting(is_older ? now : old)) {
		/* its end was not seen */
		tell_connect(c, s, 0, 0, now == MG_TCP_SYN_SENT ? CONNECT_FAILED : CONNECT_DONE);
	}
	if (is_older)
		return;
	if (now == MG_TCP_SYN_SENT)
		s->met.connecting = e->cycles;
	else if (s->met.connecting && !is_connecting(now))
		tell_connect(c, s, e->cycles, e->cycles,
			now == MG_TCP_ESTABLISHED ? CONNECT_DONE : CONNECT_FAILED);
}
