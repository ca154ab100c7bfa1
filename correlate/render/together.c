/* SPDX-License-Identifier: MIT */
/*
 * Groups flows by program, protocol, direction and side, where there are several: a single short
 * connection says little.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "report.h"

/* Returns the share to set in the sum, so that its complete bytes count as much as in each flow. */
static double not_told(const struct flow *sum, const struct flow *f)
{
	double all = (double)sum->complete + (double)f->complete;

	return all > 0 ? (sum->missing.events_share * (double)sum->complete +
				 f->missing.events_share * (double)f->complete) /
				 all
		       : 0;
}

/* Adds bytes that came more than once. */
static void add_copies(struct copies *sum, const struct copies *c)
{
	sum->retransmitted += c->retransmitted;
	sum->resent += c->resent + c->pending;
	sum->ambiguous += c->ambiguous;
	sum->transit_ambiguous += c->transit_ambiguous;
	sum->undivided += c->undivided;
	sum->incomplete += c->incomplete;
}

static void add_window(struct zero_window *sum, const struct zero_window *w)
{
	sum->n += w->n;
	sum->cycles += w->cycles;
}

static void add_tcp(struct tcp_record *sum, const struct tcp_record *t)
{
	if (!t)
		return;
	add_window(&sum->own, &t->own);
	add_window(&sum->peer, &t->peer);
	sum->cong_changes += t->cong_changes;
	sum->recoveries += t->recoveries;
	sum->timeouts += t->timeouts;
	sum->resets_sent += t->resets_sent;
	sum->resets_received += t->resets_received;
	if (t->reset_reason)
		sum->reset_reason = t->reset_reason;
}

static void add_flow(struct together *g, const struct flow *f)
{
	struct flow *sum = &g->sum;

	add_tcp(&g->tcp, measures_tcp(f->sock));
	sum->missing.events_share = not_told(sum, f); /* before their bytes are added */
	sum->missing.bytes += f->missing.bytes;
	sum->total += flow_bytes(f);
	sum->urgent.discarded += f->urgent.discarded;
	sum->never_sent.bytes += f->never_sent.bytes;
	sum->handshake.unseen += f->handshake.unseen;
	sum->complete += f->complete;
	sum->incomplete += f->incomplete;
	sum->use.kernel_only += f->use.kernel_only;
	sum->use.calls += f->use.calls;
	sum->drops.refused += f->drops.refused;
	sum->missing.gaps += f->missing.gaps;
	sum->closure += f->closure;
	add_copies(&sum->copies, &f->copies);
	sum->retried.segments += f->retried.segments;
	sum->retried.syn += f->retried.syn;
	sum->retried.synack += f->retried.synack;
	sum->missing.layers |= f->missing.layers;
	mg_events_add_all(&sum->missing.events, f->missing.events);
	sum->refusals.n += f->refusals.n;
	if (!sum->state)
		sum->state = measures_new();
	if (sum->state)
		measures_add(sum->state, measures(f));
}

static uint16_t server_port(const struct mg_sock *s)
{
	enum flow_side side = sock_side(s);

	return side == SIDE_CLIENT ? s->rport : side == SIDE_SERVER ? s->lport : 0;
}

/* Returns the group that a flow belongs to, NULL if there is none yet. */
static struct together *find(
	struct together *all, size_t count, const struct report *r, const struct flow *f)
{
	const char *comm = flow_comm(r, f);
	enum flow_side side = sock_side(f->sock);
	uint16_t port = server_port(f->sock);

	for (size_t i = 0; i < count; i++) {
		struct together *g = &all[i];

		if (g->sum.rx == f->rx && g->sum.sock->kind == f->sock->kind && g->side == side &&
			g->port == port && strcmp(g->comm, comm) == 0)
			return g;
	}
	return NULL;
}

/* Returns the group of flow `i`; begins one if it is the first. */
static struct together *group_of(
	struct together **all, size_t *count, const struct report *r, size_t i)
{
	struct together *more = find(*all, *count, r, report_flow(r, i));
	struct flow *f;

	if (more)
		return more;
	f = report_keep_flow(r, i);
	more = mg_realloc(*all, (*count + 1) * sizeof(*more));
	if (!more)
		return NULL;
	*all = more;
	more += (*count)++;
	memset(more, 0, sizeof(*more));
	more->first = f;
	more->side = sock_side(f->sock);
	more->port = server_port(f->sock);
	more->sum.sock = f->sock;
	more->sum.rx = f->rx;
	snprintf(more->comm, sizeof(more->comm), "%s", flow_comm(r, f));
	return more;
}

/* Returns whether a flow's bytes can be followed; those of others would count as missing. */
static bool has_bars(const struct flow *f)
{
	return flow_bytes(f) && (f->use.calls || f->missing.bytes) && !f->sock->unclaimed &&
	       !f->sock->ulp;
}

static int longer(const void *a, const void *b)
{
	const struct together *x = a, *y = b;

	return (measures(&x->sum)->residence.sum < measures(&y->sum)->residence.sum) -
	       (measures(&x->sum)->residence.sum > measures(&y->sum)->residence.sum);
}

/* Adds each drop to the group of its flow. */
static void add_drops(struct together *all, size_t count, const struct report *r)
{
	const struct drop *d, *tmp;

	HASH_ITER (hh, figures_of(r->core)->drops, d, tmp) {
		const struct mg_sock *s = core_sock(r->core, d->key.sock);
		struct together *g;

		if (!s)
			continue;
		g = find(all, count, r, d->key.rx ? &s->rx : &s->tx);
		if (g)
			drop_sums_add(&g->drops, d);
	}
	for (size_t i = 0; i < count; i++)
		drop_sums_sort(&all[i].drops);
}

struct together *report_together(const struct report *r, size_t *count)
{
	struct together *all = NULL, *g;
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < r->flow_count; i++) {
		g = has_bars(report_flow(r, i)) ? group_of(&all, &n, r, i) : NULL;
		if (!g)
			continue;
		if (++g->count == 2)
			add_flow(g, g->first);
		if (g->count >= 2)
			add_flow(g, report_flow(r, i));
	}
	for (size_t i = 0; i < n; i++)
		if (all[i].count >= 2)
			all[kept++] = all[i];
	if (kept)
		qsort(all, kept, sizeof(*all), longer);
	add_drops(all, kept, r);
	*count = kept;
	return all;
}

void report_together_free(struct together *all, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		measures_free(all[i].sum.state);
		drop_sums_free(&all[i].drops);
	}
	free(all);
}
