/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "top_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/window_figures.h"
#include "alloc.h"
#include "event_table.h"
#include "render/report.h"
#include "render/table.h"
#include "top_columns.h"

static void address(char out[64], const struct fact_address *at, const struct fact_address * or)
{
	const struct fact_address *one = at->addr || ! or ? at : or ;

	if (one->addr)
		address_text(out, one->addr, one->port);
	else
		snprintf(out, 64, "n/a");
}

void top_row_identify(struct top_row *r, struct core *c, uint64_t sock)
{
	struct fact_flow tx, rx;
	const struct fact_flow *used;

	r->sock = sock;
	r->protocol = "n/a";
	snprintf(r->program, sizeof(r->program), "n/a");
	snprintf(r->local, sizeof(r->local), "n/a");
	snprintf(r->remote, sizeof(r->remote), "n/a");
	if (!core_flow(c, sock, false, &tx))
		return;
	used = tx.pid || !core_flow(c, sock, true, &rx) ? &tx : &rx;
	r->pid = used->pid && used->pid != FACT_NONE ? used->pid : 0;
	if (used->program && used->program[0])
		snprintf(r->program, sizeof(r->program), "%s", text_plain(used->program, 15));
	r->protocol = mg_kind_name(tx.kind);
	address(r->local, &tx.local, NULL);
	address(r->remote, &tx.remote, &tx.first_remote);
}

static bool takes(const struct top_view *v, const struct top_row *r)
{
	return !v->filter[0] || strcasestr(r->program, v->filter) ||
	       strcasestr(r->local, v->filter) || strcasestr(r->remote, v->filter) ||
	       strcasestr(r->protocol, v->filter);
}

static double rate(uint64_t n, double seconds)
{
	return n != FACT_NONE && seconds > 0 ? (double)n / seconds : NAN;
}

void top_row_figures(struct top_row *r, const struct live *l, uint32_t slots)
{
	double seconds = (double)live_span_ns(l, slots) / 1e9;
	struct live_sums sums;

	live_sum(l, r->of, slots, &sums);
	for (int i = 0; i < 2; i++)
		r->rate[i] = rate(sums.n.bytes[i], seconds);
	r->exchanges = rate(sums.n.exchanges, seconds);
	r->reply_p50_ns = live_quantile_ns(l, &sums.to_reply, 0.5);
	r->reply_high = live_highest(l, &sums.to_reply, &r->reply_high_ns);
	r->ack_p50_ns = live_quantile_ns(l, &sums.to_ack, 0.5);
	r->ack_high = live_highest(l, &sums.to_ack, &r->ack_high_ns);
	r->modulation = live_modulation(&sums);
	r->retransmits = sums.n.retransmits;
	r->stage = live_stage(&sums, &r->stage_share);
	r->is_idle = r->of->active + slots < l->now;
	live_sums_free(&sums);
}

static int by_column(const void *a, const void *b, void *arg)
{
	const struct top_view *v = arg;
	int order = top_compare(v->sort, a, b);

	if (v->reverse)
		order = -order;
	if (order)
		return order;
	return ((const struct top_row *)a)->sock < ((const struct top_row *)b)->sock ? -1 : 1;
}

bool top_rows_make(
	struct top_rows *r, const struct live *l, const struct top_view *v, uint32_t slots)
{
	const struct live_connection *c;

	memset(r, 0, sizeof(*r));
	r->row = mg_calloc(HASH_COUNT(l->connections) + 1, sizeof(*r->row));
	if (!r->row)
		return false;
	for (c = l->connections; c; c = c->hh.next) {
		struct top_row *row = &r->row[r->n];

		if (!v->with_idle && c->active + slots < l->now) {
			r->idle++;
			continue;
		}
		memset(row, 0, sizeof(*row));
		row->of = c;
		top_row_identify(row, l->core, c->sock);
		if (!takes(v, row)) {
			r->hidden++;
			continue;
		}
		top_row_figures(row, l, slots);
		r->n++;
	}
	qsort_r(r->row, r->n, sizeof(*r->row), by_column, (void *)v);
	return true;
}

void top_rows_free(struct top_rows *r)
{
	free(r->row);
	r->row = NULL;
	r->n = 0;
}
