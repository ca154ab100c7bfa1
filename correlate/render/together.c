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
#include "figures/measures_sums.h"
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
/* Adds what happened to the connection of flow `i`. */
static void add_tcp(struct together *g, const struct tcp_record *tcp, size_t i)
{
	const char *reason = g->tcp.reset_reason;

	tcp_sum(&g->tcp, tcp);
	/* that of the smallest flow stays, in whatever order they come */
	if (tcp->reset_reason && reason && i < g->reset_of)
		g->tcp.reset_reason = reason;
	else if (tcp->reset_reason)
		g->reset_of = i;
}

/* Adds flow `i`, but for its measures. */
static void add_flow(struct together *g, const struct fact_flow *f, size_t i)
{
	struct fact_flow *sum = &g->sum;
	const struct tcp_record *tcp = measures_tcp(f);

	if (tcp)
		add_tcp(g, tcp, i);
	sum->missing_share = missing_share(sum, f); /* before their bytes are added */
	MG_FLOW_COUNTERS(ADD_FIGURE, ADD_OTHER)
	sum->end += flow_bytes(f);
	sum->resent += f->resent;
	sum->missing_layers |= f->missing_layers;
	mg_events_add_all(&sum->missing_events, f->missing_events);
	if (!g->measures)
		g->measures = measures_new();
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

/* Begins the group of flow `i`, the first of several. */
static void begin(struct together *g, const struct report *r, size_t i)
{
	const struct fact_flow *f = report_keep_flow(r, i);

	memset(g, 0, sizeof(*g));
	g->first = f;
	g->key = alike_key_of(f);
	g->alike = r->flows[i].alike;
	g->is_aside = r->flows[i].is_aside;
	g->sum = whose(f);
}

static dist_sum wait_of(const struct together *g)
{
	const struct flow_measures *m = g->measures;

	return m ? measures_wait(m) : 0;
}

static int longer(const void *a, const void *b)
{
	const struct together *x = a, *y = b;

	if (x->is_aside != y->is_aside)
		return x->is_aside ? 1 : -1;
	return (wait_of(a) < wait_of(b)) - (wait_of(a) > wait_of(b));
}

/*
 * Returns what the flow of each drop is reported together with, by the drop's place in order;
 * UINT32_MAX where the flow is not among those that are reported. NULL if memory is short.
 */
static uint32_t *alikes_of_drops(const struct report *r)
{
	uint32_t *alike = mg_malloc((r->drop_count + 1) * sizeof(*alike));

	if (!alike)
		return NULL;
	memset(alike, 0xff, r->drop_count * sizeof(*alike));
	for (size_t i = 0; r->drop_count && i < r->flow_count; i++) {
		size_t n;
		const struct flow_drop *d =
			report_drops_of(r, r->flows[i].sock, r->flows[i].rx, &n);

		for (size_t k = 0; k < n; k++)
			alike[d[k].nth] = r->flows[i].alike;
	}
	return alike;
}

/* Returns the group of a drop, NULL if there is none. */
static struct together *group_of_drop(struct together *all, size_t count, const struct report *r,
	const struct drop *d, uint32_t alike)
{
	struct alike_key key = {.rx = 0};
	struct fact_flow f;

	if (alike == UINT32_MAX) {
		if (!core_flow(r->core, d->key.sock, d->key.rx, &f))
			return NULL;
		key = alike_key_of(&f);
	}
	for (size_t i = 0; i < count; i++)
		if (alike == UINT32_MAX ? memcmp(&all[i].key, &key, sizeof(key)) == 0
					: all[i].alike == alike)
			return &all[i];
	return NULL;
}

/* Adds each drop to the group of its flow. */
static void add_drops(struct together *all, size_t count, const struct report *r)
{
	uint32_t *alike = count ? alikes_of_drops(r) : NULL;
	const struct drop *d, *tmp;
	size_t nth = 0;

	if (!alike)
		return;
	HASH_ITER (hh, figures_of(r->core)->drops, d, tmp) {
		struct together *g = group_of_drop(all, count, r, d, alike[nth++]);

		if (g)
			drop_sums_add(&g->drops, d);
	}
	for (size_t i = 0; i < count; i++)
		drop_sums_sort(&all[i].drops);
	free(alike);
}

/* Flows with one number: how many there are, and their group, from 1 on. */
struct alike_flows {
	size_t count, group;
};

static size_t count_groups(const struct report *r, struct alike_flows *of)
{
	size_t groups = 0;

	for (size_t i = 0; i < r->flow_count; i++)
		groups += r->flows[i].has_bars && ++of[r->flows[i].alike].count == 2;
	return groups;
}

/* Begins the groups, each with its largest flow. Returns their number. */
static size_t begin_groups(struct together *all, const struct report *r, struct alike_flows *of)
{
	size_t n = 0;

	for (size_t i = 0; i < r->flow_count; i++) {
		struct alike_flows *with = &of[r->flows[i].alike];

		if (!r->flows[i].has_bars || with->count < 2 || with->group)
			continue;
		begin(&all[n], r, i);
		with->group = ++n;
	}
	return n;
}

/*
 * Adds each flow to its group. That is done in the order of sockets, so that each of those that are
 * packed is unpacked once. The measures of those that are not are added together, later.
 */
static void add_flows(
	struct together *all, size_t groups, const struct report *r, const struct alike_flows *of)
{
	uint32_t *in_order = mg_malloc(r->flow_count * sizeof(*in_order));
	struct measures_addend *later = mg_malloc(r->flow_count * sizeof(*later));
	size_t n = 0;

	if (!in_order || !later)
		goto out;
	for (size_t i = 0; i < r->flow_count; i++)
		in_order[r->flows[i].nth] = (uint32_t)i;
	for (size_t k = 0; k < r->flow_count; k++) {
		size_t i = in_order[k], group = of[r->flows[i].alike].group;
		const struct fact_flow *f;
		struct together *g;

		if (!r->flows[i].has_bars || !group)
			continue;
		g = &all[group - 1];
		f = report_flow(r, i);
		add_flow(g, f, i);
		g->count++;
		if (g->measures && core_states_stay(r->core, r->flows[i].sock))
			later[n++] = (struct measures_addend){measures(f), g->measures, group - 1};
		else if (g->measures)
			measures_add(g->measures, measures(f));
	}
	measures_add_groups(later, n, groups);
out:
	free(in_order);
	free(later);
}

struct together *report_together(const struct report *r, size_t *count)
{
	struct alike_flows *of = mg_calloc(r->alikes + 1u, sizeof(*of));
	size_t groups = of ? count_groups(r, of) : 0;
	struct together *all = groups ? mg_calloc(groups, sizeof(*all)) : NULL;

	*count = all ? begin_groups(all, r, of) : 0;
	if (all)
		add_flows(all, *count, r, of);
	free(of);
	if (!all)
		return NULL;
	qsort(all, *count, sizeof(*all), longer);
	for (size_t i = 0; i < *count; i++) /* they stay where they are from now on */
		all[i].sum.flow.state = &all[i].measures;
	add_drops(all, *count, r);
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
