/* SPDX-License-Identifier: MIT */
/* Emits the recorded protocol state of each connection. */
#include "socket/state.h"

#include <string.h>

#include "core.h"
#include "event_table.h"
#include "socket/anchor.h"
#include "socket/socket.h"
#include "stream/why.h"
#include "stream/why_split.h"
#include "tcp_names.h"

#define SYN_OR_RST 6

static struct fact_state nothing(const struct mg_sock *s, uint64_t now)
{
	struct fact_state f;

	memset(&f, 0xff, sizeof(f)); /* FACT_NONE in every number */
	f.time = now;
	f.flow = flow_fact(&s->tx);
	f.congestion = f.algorithm = f.reset_reason = NULL;
	f.own_window_zero = f.peer_window_zero = f.reset_sent = FACT_MAYBE;
	return f;
}

static void fill_sample(struct fact_state *f, const struct mg_tcp_state *p, uint8_t state)
{
	if (p->srtt_us)
		f->srtt_us = p->srtt_us;
	f->rto_us = p->rto_us;
	f->cwnd = p->snd_cwnd;
	f->ssthresh = p->snd_ssthresh;
	if (state == MG_TCP_SYN_SENT)
		return;
	f->snd_wnd = p->snd_wnd;
	f->rcv_wnd = p->rcv_wnd;
}

static void fill_more(struct fact_state *f, const struct mg_tcp_more *p)
{
	if (p->pacing_rate != UINT64_MAX)
		f->pacing_rate = p->pacing_rate;
	f->notsent = p->notsent;
	f->delivered = p->delivered;
	f->lost = p->lost;
}

static void fill_limits(struct fact_state *f, const struct mg_tcp_limits *p)
{
	f->busy_us = p->busy_us;
	f->rwnd_limited_us = p->rwnd_limited_us;
	f->sndbuf_limited_us = p->sndbuf_limited_us;
}

static void fill_reset(struct fact_state *f, const struct mg_tcp_reset *p)
{
	f->reset_sent = p->sent != 0;
	if (p->reason)
		f->reset_reason = mg_reset_name(p->reason);
}

static void tell(const struct core *c, const struct mg_sock *s, const struct mg_event *e)
{
	struct fact_state f = nothing(s, e->cycles);
	char algorithm[sizeof(e->tcp_algorithm.name) + 1] = "";

	switch (e->id) {
	case MG_EVENT_tcp_state:
		fill_sample(&f, &e->tcp_state, s->state);
		break;
	case MG_EVENT_tcp_more:
		fill_more(&f, &e->tcp_more);
		break;
	case MG_EVENT_tcp_limits:
		fill_limits(&f, &e->tcp_limits);
		break;
	case MG_EVENT_tcp_algorithm:
		memcpy(algorithm, e->tcp_algorithm.name, sizeof(e->tcp_algorithm.name));
		f.algorithm = algorithm;
		break;
	case MG_EVENT_tcp_cong:
		f.congestion = mg_ca_state_name(e->tcp_cong.now);
		break;
	case MG_EVENT_tcp_timeout:
		f.timeouts = e->tcp_timeout.count;
		break;
	case MG_EVENT_tcp_window:
		*(e->tcp_window.own ? &f.own_window_zero : &f.peer_window_zero) =
			e->tcp_window.closed != 0;
		break;
	case MG_EVENT_tcp_reset:
		fill_reset(&f, &e->tcp_reset);
		break;
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

	if (closed == s->peer_window_zero || p->tcp_flags & SYN_OR_RST ||
		s->state == MG_TCP_CLOSE || !flow_offset(&s->tx, p->ack, &ack) ||
		ack < s->tx.ack.to)
		return;
	s->peer_window_zero = closed;
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
	switch (e->id) {
	case MG_EVENT_tcp_state:
		why_on_state(&s->tx, &e->tcp_state);
		break;
	case MG_EVENT_tcp_limits:
		why_on_limits(&s->tx, &e->tcp_limits);
		break;
	case MG_EVENT_tcp_cong:
		why_on_congestion(&s->tx, &e->tcp_cong, e->cycles);
		break;
	case MG_EVENT_tcp_window:
		if (!e->tcp_window.own)
			s->peer_window_zero = e->tcp_window.closed;
		break;
	}
	if (facts_wanted(&c->facts, FACT_state))
		tell(c, s, e);
}

void state_end(const struct core *c, struct mg_sock *s, uint64_t now)
{
	s->peer_window_zero = false;
	if (s->tx.state)
		c->attached.does.ended(s->tx.state, now);
}
