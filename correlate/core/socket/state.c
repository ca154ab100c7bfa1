/* SPDX-License-Identifier: MIT */
/* What is recorded of a connection's protocol state, summed up for each socket. */
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

/* A round-trip time of 0 is one that was not measured yet; before the answer nobody offers a
 * window. */
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

/*
 * Once an end has closed, TCP tells nothing of segments; the headers of those that arrive do. What
 * is older than the last one says nothing any more.
 */
void state_on_arrival(struct mg_sock *s, const struct mg_packet *p, uint64_t now)
{
	bool closed = p->ip_id, was = s->tcp && s->tcp->peer.is_closed;
	struct tcp_record *r;
	uint64_t ack;

	if (closed == was || p->tcp_flags & SYN_OR_RST || s->state == MG_TCP_CLOSE ||
		!flow_offset(&s->tx, p->ack, &ack) || ack < s->tx.acked)
		return;
	r = record_of(s);
	if (r)
		on_window(&r->peer, closed, now);
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
}

void state_end(struct mg_sock *s, uint64_t now)
{
	if (!s->tcp)
		return;
	opens(&s->tcp->own, now);
	opens(&s->tcp->peer, now);
}
