/* SPDX-License-Identifier: MIT */
/* Chooses the flows and groups of flows that the text shows, and their order. */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "text.h"
#include "text_answer.h"

#define FLOWS_SHOWN  4
#define GROUPS_SHOWN 4
/* In the short form: blocks in all, and the share of all waiting time that is worth one. */
#define BLOCKS_SHORT 3
#define SHARE_SHORT  0.05

/* Returns whether a group had losses: it is shown even if it waited little. */
static bool had_losses(const struct together *g)
{
	return g->sum.retransmits || g->sum.synack_retries || flow_resent(&g->sum) ||
	       g->sum.ambiguous || g->tcp.timeouts || drop_sums_lost(&g->drops);
}

/* Returns the number of the flow of which the answer or the summary is; flow_count: of none. */
static size_t named_flow(const struct report *r, bool answered)
{
	struct fact_flow_id id;

	if (!answered || !text_answer_flow(r, &id))
		return r->sums.longest;
	for (size_t i = 0; i < r->flow_count; i++)
		if (r->flows[i].sock == id.sock && r->flows[i].rx == id.rx)
			return i;
	return r->flow_count;
}

/* Returns the group of a flow, NULL if there is none. */
static const struct together *group_of(
	const struct report *r, size_t flow, const struct together *groups, size_t count)
{
	for (size_t i = 0; flow < r->flow_count && i < count; i++)
		if (groups[i].alike == r->flows[flow].alike)
			return &groups[i];
	return NULL;
}

/* ---- all ---- */

static void all_groups(const struct report *r, const struct together *groups, size_t count,
	const struct together *first, FILE *to, bool colour)
{
	if (first)
		text_together(r, first, to, colour);
	for (size_t i = 0; i < count && i < GROUPS_SHOWN; i++)
		if (&groups[i] != first &&
			(measures_wait(measures(&groups[i].sum)) * 1000 >=
					measures_wait(measures(&groups[0].sum)) ||
				had_losses(&groups[i])))
			text_together(r, &groups[i], to, colour);
}

static void more_flows(const struct report *r, size_t shown, uint64_t listed, FILE *to)
{
	if (shown < r->flow_count)
		fprintf(to, "\nand %zu more flow%s with %s%s\n", r->flow_count - shown,
			plural(r->flow_count - shown), text_bytes((double)(r->sums.bytes - listed)),
			text_has_all(r) ? " (--flow ID shows one, --json has all)" : "");
}

/* Prints a flow; returns its bytes. */
static uint64_t one_flow(const struct report *r, size_t i, FILE *to, bool colour)
{
	const struct fact_flow *f = report_keep_flow(r, i);

	text_flow(r, f, to, colour);
	return flow_bytes(f);
}

static void all_flows(const struct report *r, size_t named, FILE *to, bool colour)
{
	size_t shown = 0;
	uint64_t listed = 0; /* bytes */

	if (named < r->flow_count) {
		listed += one_flow(r, named, to, colour);
		shown++;
	}
	for (size_t i = 0; i < r->flow_count && shown < FLOWS_SHOWN; i++) {
		if (i == named)
			continue;
		if (shown && flow_bytes(report_flow(r, i)) < r->sums.bytes / 50)
			break;
		listed += one_flow(r, i, to, colour);
		shown++;
	}
	more_flows(r, shown, listed, to);
}

/* ---- the short form ---- */

/* A group, or a flow that is in none. */
struct block {
	const struct together *group; /* NULL: a flow */
	size_t flow;
	dist_sum wait;
	bool first;
};

static int longer(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->first != y->first)
		return x->first ? -1 : 1;
	return (x->wait < y->wait) - (x->wait > y->wait);
}

/* Keeps the flows in no group with the longest waits, and the one that is named. */
static size_t single_flows(const struct report *r, const struct together *groups, size_t count,
	size_t named, struct block *blocks)
{
	size_t n = 0;

	for (size_t i = 0; i < r->flow_count; i++) {
		struct block b = {.flow = i, .wait = r->flows[i].wait, .first = i == named};

		if (n == BLOCKS_SHORT && !b.first && b.wait <= blocks[n - 1].wait)
			continue;
		if (group_of(r, i, groups, count))
			continue;
		if (n < BLOCKS_SHORT)
			n++;
		blocks[n - 1] = b;
		qsort(blocks, n, sizeof(*blocks), longer);
	}
	return n;
}

static void short_form(const struct report *r, const struct together *groups, size_t count,
	size_t named, const struct together *first, FILE *to, bool colour)
{
	struct block *blocks = mg_calloc(count + BLOCKS_SHORT, sizeof(*blocks));
	uint64_t listed = 0;
	size_t n, flows = 0;
	dist_sum all = 0;

	if (!blocks)
		return;
	for (size_t i = 0; i < r->flow_count; i++)
		all += r->flows[i].wait;
	n = single_flows(r, groups, count, named, blocks);
	for (size_t i = 0; i < count; i++)
		blocks[n++] = (struct block){&groups[i], 0,
			groups[i].is_aside ? 0 : measures_wait(measures(&groups[i].sum)),
			&groups[i] == first};
	qsort(blocks, n, sizeof(*blocks), longer);
	for (size_t i = 0; i < n; i++) {
		const struct block *b = &blocks[i];
		bool lossy = b->group && had_losses(b->group);

		if (i && (i >= BLOCKS_SHORT ||
				 (!lossy && (double)b->wait < SHARE_SHORT * (double)all)))
			continue;
		if (b->group) {
			text_together(r, b->group, to, colour);
			flows += b->group->count;
			listed += flow_bytes(&b->group->sum);
		} else {
			listed += one_flow(r, b->flow, to, colour);
			flows++;
		}
	}
	free(blocks);
	more_flows(r, flows, listed, to);
}

void text_flows(const struct report *r, const struct together *groups, size_t group_count,
	bool answered, FILE *to, bool colour)
{
	size_t named = named_flow(r, answered);
	const struct together *first = answered ? group_of(r, named, groups, group_count)
						: text_summarised(r, groups, group_count);

	if (!first)
		first = group_of(r, named, groups, group_count);
	if (!text_has_all(r) && !r->demand) { /* statistics on demand are those of flows */
		short_form(r, groups, group_count, named, first, to, colour);
		return;
	}
	all_groups(r, groups, group_count, first, to, colour);
	all_flows(r, named, to, colour);
}
