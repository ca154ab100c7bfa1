/* SPDX-License-Identifier: MIT */
#include "figures/tcp.h"

#include <stdio.h>
#include <string.h>

#include "tcp_names.h"

#define CA_RECOVERY 3

/* Adds a value if it is known. */
static void extend(struct extent *x, uint64_t v)
{
	if (v == FACT_NONE)
		return;
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
	if (v == FACT_NONE)
		return;
	if (!g->known)
		g->first = v;
	g->known = true;
	g->last = v;
}

static void opens(struct zero_window *w, uint64_t now)
{
	if (w->is_closed && now > w->since)
		w->cycles += now - w->since;
	w->is_closed = false;
}

static void on_window(struct zero_window *w, uint8_t zero, uint64_t now)
{
	if (zero == FACT_MAYBE)
		return;
	opens(w, now);
	if (!zero)
		return;
	w->is_closed = true;
	w->since = now;
	w->n++;
}

static void add_trouble(struct tcp_record *r, const struct fact_state *f)
{
	on_window(&r->own, f->own_window_zero, f->time);
	on_window(&r->peer, f->peer_window_zero, f->time);
	if (f->congestion) {
		r->cong_changes++;
		r->recoveries += strcmp(f->congestion, mg_ca_state_name(CA_RECOVERY)) == 0;
	}
	if (f->timeouts != FACT_NONE)
		r->timeouts += f->timeouts;
	r->resets_sent += f->reset_sent == 1;
	r->resets_received += f->reset_sent == 0;
	if (f->reset_reason)
		r->reset_reason = f->reset_reason;
}

void tcp_add(struct tcp_record *r, const struct fact_state *f)
{
	extend(&r->srtt_us, f->srtt_us);
	extend(&r->rto_us, f->rto_us);
	extend(&r->cwnd, f->cwnd);
	extend(&r->snd_wnd, f->snd_wnd);
	extend(&r->rcv_wnd, f->rcv_wnd);
	extend(&r->pacing_rate, f->pacing_rate);
	extend(&r->notsent, f->notsent);
	grow(&r->delivered, f->delivered);
	grow(&r->lost, f->lost);
	grow(&r->busy_us, f->busy_us);
	grow(&r->rwnd_limited_us, f->rwnd_limited_us);
	grow(&r->sndbuf_limited_us, f->sndbuf_limited_us);
	if (f->ssthresh != FACT_NONE)
		r->ssthresh = (uint32_t)f->ssthresh;
	if (f->algorithm)
		snprintf(r->algorithm, sizeof(r->algorithm), "%s", f->algorithm);
	add_trouble(r, f);
}

void tcp_end(struct tcp_record *r, uint64_t now)
{
	opens(&r->own, now);
	opens(&r->peer, now);
}
