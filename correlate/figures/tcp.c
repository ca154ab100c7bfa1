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

/* Returns whether congestion control has entered the state. */
static bool enters(const struct fact_state *f, uint8_t state)
{
	return f->congestion && strcmp(f->congestion, mg_ca_state_name(state)) == 0;
}

#define NO(...)
#define EXTEND(S, name)               extend(&r->name, f->name);
#define GROW(S, name, type)           grow(&r->name, f->name);
#define COUNT(S, name, event, n, use) r->name += n;
void tcp_add(struct tcp_record *r, const struct fact_state *f)
{
	MG_TCP_SUMS(EXTEND, GROW, COUNT)
	extend(&r->snd_wnd, f->snd_wnd);
	extend(&r->rcv_wnd, f->rcv_wnd);
	if (f->ssthresh != FACT_NONE)
		r->ssthresh = (uint32_t)f->ssthresh;
	if (f->algorithm)
		snprintf(r->algorithm, sizeof(r->algorithm), "%s", f->algorithm);
	if (f->reset_reason)
		r->reset_reason = f->reset_reason;
	on_window(&r->own, f->own_window_zero, f->time);
	on_window(&r->peer, f->peer_window_zero, f->time);
}

static void add_window(struct zero_window *sum, const struct zero_window *w)
{
	sum->n += w->n;
	sum->cycles += w->cycles;
}

#define ADD(S, name, event, n, use) sum->name += r->name;
void tcp_sum(struct tcp_record *sum, const struct tcp_record *r)
{
	MG_TCP_SUMS(NO, NO, ADD)
	add_window(&sum->own, &r->own);
	add_window(&sum->peer, &r->peer);
	if (r->reset_reason)
		sum->reset_reason = r->reset_reason;
}

#define IS_NOTABLE(S, name, event, n, use) || (use != QUIET && r->name)
bool tcp_is_eventful(const struct tcp_record *r)
{
	return r->own.n || r->peer.n MG_TCP_SUMS(NO, NO, IS_NOTABLE);
}

void tcp_end(struct tcp_record *r, uint64_t now)
{
	opens(&r->own, now);
	opens(&r->peer, now);
}
