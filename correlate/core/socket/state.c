/* SPDX-License-Identifier: MIT */
/* Sums up the recorded protocol state of each connection. */
#include "socket/state.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "socket/anchor.h"
#include "socket/socket.h"
#include "stream/why.h"
#include "stream/why_split.h"
#include "tcp_names.h"

#define CA_RECOVERY 3
#define SYN_OR_RST  6

static void extend(struct extent *x, uint64_t v)
{
	if (!x->n || v < x->min)
		x->min = v;
	if (!x->n || v > x->max)
		x->max = v;
	x->n++;
	x->sum += (double)v;
}

double extent_mean(const struct extent *x)
{
	return x->n ? x->sum / (double)x->n : 0;
}

static void grow(struct growing *g, uint64_t v)
{
	if (!g->known)
		g->first = v;
	g->known = true;
	g->last = v;
}

static struct tcp_record *record_of(struct mg_sock *s)
{
	if (s && !s->tcp)
		s->tcp = mg_calloc(1, sizeof(*s->tcp));
	return s ? s->tcp : NULL;
}

/*
 * Adds a sample. A round-trip time of 0 has not been measured yet; no window is offered before the
 * SYN-ACK.
 */
static void on_state(struct tcp_record *r, const struct mg_tcp_state *p, uint8_t state)
{
	if (p->srtt_us)
		extend(&r->srtt_us, p->srtt_us);
	extend(&r->rto_us, p->rto_us);
	extend(&r->cwnd, p->snd_cwnd);
	if (state != MG_TCP_SYN_SENT) {
		extend(&r->snd_wnd, p->snd_wnd);
		extend(&r->rcv_wnd, p->rcv_wnd);
	}
	r->ssthresh = p->snd_ssthresh;
}

static void on_more(struct tcp_record *r, const struct mg_tcp_more *p)
{
	if (p->pacing_rate != UINT64_MAX)
		extend(&r->pacing_rate, p->pacing_rate);
	extend(&r->notsent, p->notsent);
	grow(&r->delivered, p->delivered);
	grow(&r->lost, p->lost);
}

static void on_limits(struct tcp_record *r, const struct mg_tcp_limits *p)
{
	grow(&r->busy_us, p->busy_us);
	grow(&r->rwnd_limited_us, p->rwnd_limited_us);
	grow(&r->sndbuf_limited_us, p->sndbuf_limited_us);
}

static void opens(struct zero_window *w, uint64_t now)
{
	if (w->is_closed && now > w->since)
		w->cycles += now - w->since;
	w->is_closed = false;
}

static void on_window(struct zero_window *w, bool closed, uint64_t now)
{
	opens(w, now);
	if (!closed)
		return;
	w->is_closed = true;
	w->since = now;
	w->n++;
}

static void on_reset(struct tcp_record *r, const struct mg_tcp_reset *p)
{
	if (p->sent)
		r->resets_sent++;
	else
		r->resets_received++;
	if (p->reason)
		r->reset_reason = p->reason;
}

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
		f.algorithm = s->tcp->algorithm;
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
	bool closed = p->zero_window, was = s->tcp && s->tcp->peer.is_closed;
	struct tcp_record *r;
	uint64_t ack;

	if (closed == was || p->tcp_flags & SYN_OR_RST || s->state == MG_TCP_CLOSE ||
		!flow_offset(&s->tx, p->ack, &ack) || ack < s->tx.acked)
		return;
	r = record_of(s);
	if (r)
		on_window(&r->peer, closed, now);
	if (facts_wanted(&c->facts, FACT_state)) {
		struct fact_state f = nothing(s, now);

		f.peer_window_zero = closed;
		emit_state(&c->facts, &f);
	}
}

void state_on_event(struct core *c, const struct mg_event *e, struct annotation *a)
{
	struct mg_sock *s = sock_get(c, e->tcp_state.sock); /* the first field of all of them */
	struct tcp_record *r = record_of(s);

	if (e->id == MG_EVENT_tcp_window)
		a->rx = e->tcp_window.own;
	if (!r)
		return;
	switch (e->id) {
	case MG_EVENT_tcp_state:
		on_state(r, &e->tcp_state, s->state);
		why_on_state(&s->tx, &e->tcp_state);
		break;
	case MG_EVENT_tcp_more:
		on_more(r, &e->tcp_more);
		break;
	case MG_EVENT_tcp_limits:
		on_limits(r, &e->tcp_limits);
		why_on_limits(&s->tx, &e->tcp_limits);
		break;
	case MG_EVENT_tcp_algorithm:
		memcpy(r->algorithm, e->tcp_algorithm.name, sizeof(r->algorithm) - 1);
		break;
	case MG_EVENT_tcp_cong:
		why_on_congestion(&s->tx, &e->tcp_cong, e->cycles);
		r->cong_changes++;
		r->recoveries += e->tcp_cong.now == CA_RECOVERY;
		break;
	case MG_EVENT_tcp_timeout:
		r->timeouts += e->tcp_timeout.count;
		break;
	case MG_EVENT_tcp_window:
		on_window(e->tcp_window.own ? &r->own : &r->peer, e->tcp_window.closed, e->cycles);
		break;
	case MG_EVENT_tcp_reset:
		on_reset(r, &e->tcp_reset);
		break;
	}
	if (facts_wanted(&c->facts, FACT_state))
		tell(c, s, e);
}

void state_end(struct mg_sock *s, uint64_t now)
{
	if (!s->tcp)
		return;
	opens(&s->tcp->own, now);
	opens(&s->tcp->peer, now);
}
