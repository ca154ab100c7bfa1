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
#include "reported/table.h"

/* Returns the missing share to set in the sum, so that its complete bytes count as much as in each
 * flow. */
static double missing_share(const struct fact_flow *sum, const struct fact_flow *f)
{
	double all = (double)sum->followed + (double)f->followed;

	return all > 0 ? (sum->missing_share * (double)sum->followed +
				 f->missing_share * (double)f->followed) /
				 all
		       : 0;
}

#define ADD(member)                      sum->member += f->member;
#define ADD_FIGURE(S, name, member, use) ADD(member)
#define ADD_OTHER(member, use)           ADD(member)
static void add_flow(struct together *g, const struct fact_flow *f)
{
	struct fact_flow *sum = &g->sum;
	const struct tcp_record *tcp = measures_tcp(f);

	if (tcp)
		tcp_sum(&g->tcp, tcp);
	sum->missing_share = missing_share(sum, f); /* before their bytes are added */
	MG_FLOW_COUNTERS(ADD_FIGURE, ADD_OTHER)
	sum->end += flow_bytes(f);
	sum->resent += f->resent;
	sum->missing_layers |= f->missing_layers;
	mg_events_add_all(&sum->missing_events, f->missing_events);
	if (!g->measures)
		g->measures = measures_new();
	if (g->measures)
		measures_add(g->measures, measures(f));
}

static uint16_t server_port(const struct fact_flow *f)
{
	return f->side == SIDE_CLIENT   ? flow_remote_port(f)
	       : f->side == SIDE_SERVER ? f->local.port
					: 0;
}

bool together_has(const struct together *g, const struct fact_flow *f)
{
	return g->sum.flow.rx == f->flow.rx && g->sum.kind == f->kind && g->sum.side == f->side &&
	       g->port == server_port(f) && strcmp(g->comm, flow_comm(f)) == 0;
}

/* Returns the group that a flow belongs to, NULL if there is none yet. */
static struct together *find(struct together *all, size_t count, const struct fact_flow *f)
{
	for (size_t i = 0; i < count; i++)
		if (together_has(&all[i], f))
			return &all[i];
	return NULL;
}

/* Returns a flow without its counters. */
static struct fact_flow whose(const struct fact_flow *f)
{
	return (struct fact_flow){.flow = {.sock = f->flow.sock, .rx = f->flow.rx},
		.kind = f->kind,
		.pid = f->pid,
		.program = f->program,
		.local = f->local,
		.remote = f->remote,
		.peer = f->peer,
		.netns = f->netns,
		.sending = f->sending,
		.side = f->side,
		.peer_sock = f->peer_sock,
		.first_remote = f->first_remote,
		.several_remotes = f->several_remotes,
		.unclaimed = f->unclaimed,
		.ulp = f->ulp};
}

/* Returns the group of flow `i`; begins one if it is the first. */
static struct together *group_of(
	struct together **all, size_t *count, const struct report *r, size_t i)
{
	struct together *more = find(*all, *count, report_flow(r, i));
	const struct fact_flow *f;

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
	more->port = server_port(f);
	more->is_aside = r->flows[i].is_aside;
	more->sum = whose(f);
	snprintf(more->comm, sizeof(more->comm), "%s", flow_comm(f));
	return more;
}

/* Returns whether a flow's bytes can be followed; those of others would count as missing. */
static bool has_bars(const struct fact_flow *f)
{
	return flow_bytes(f) && (f->calls || f->missing_bytes) && !f->unclaimed && !f->ulp;
}

static dist_sum wait_of(const struct together *g)
{
	const struct flow_measures *m = g->measures;

	return m ? m->residence.sum : 0;
}

static int longer(const void *a, const void *b)
{
	const struct together *x = a, *y = b;

	if (x->is_aside != y->is_aside)
		return x->is_aside ? 1 : -1;
	return (wait_of(a) < wait_of(b)) - (wait_of(a) > wait_of(b));
}

/* Adds each drop to the group of its flow. */
static void add_drops(struct together *all, size_t count, const struct report *r)
{
	const struct drop *d, *tmp;

	HASH_ITER (hh, figures_of(r->core)->drops, d, tmp) {
		struct fact_flow f;
		struct together *g;

		if (!core_flow(r->core, d->key.sock, d->key.rx, &f))
			continue;
		g = find(all, count, &f);
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
	for (size_t i = 0; i < kept; i++) /* they stay where they are from now on */
		all[i].sum.flow.state = &all[i].measures;
	add_drops(all, kept, r);
	*count = kept;
	return all;
}

void report_together_free(struct together *all, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		measures_free(all[i].measures);
		drop_sums_free(&all[i].drops);
	}
	free(all);
}
