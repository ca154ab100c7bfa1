/* SPDX-License-Identifier: MIT */
#include "reported/exchanges.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "event_table.h"
#include "reported/getters.h"

struct exchange_group_figures exchange_group_figures_of(
	const struct report *r, const struct exchange_group *g)
{
	static const uint8_t nowhere[16];
	struct exchange_group_figures f = {.r = r, .g = g};

	if (g->key.role == ROLE_CLIENT && memcmp(g->key.addr, nowhere, sizeof(nowhere)) != 0)
		address_text(f.address, g->key.addr, g->key.port);
	return f;
}

struct slow_exchange_figures slow_exchange_figures_of(
	const struct report *r, const struct slow_exchange *s)
{
	struct slow_exchange_figures f = {.r = r, .s = s, .one = answer_of_slow(r, s)};

	if (s->has_local)
		address_text(f.local, s->local, s->fact.local.port);
	if (s->has_remote)
		address_text(f.remote, s->remote, s->fact.remote.port);
	flow_name(f.request, s->fact.request.sock, s->fact.request.rx);
	flow_name(f.reply, s->fact.reply.sock, s->fact.reply.rx);
	return f;
}

bool next_whole_exchanges(
	const struct report_figures *f, uintptr_t *at, struct exchange_group_figures *to)
{
	const struct exchange_group *last = (const struct exchange_group *)*at;
	const struct exchange_group *g =
		last ? last->hh.next : figures_of(f->r->core)->exchanges.groups;

	*at = (uintptr_t)g;
	if (g)
		*to = exchange_group_figures_of(f->r, g);
	return g;
}

bool next_whole_slowest(
	const struct report_figures *f, uintptr_t *at, struct slow_exchange_figures *to)
{
	const struct exchange_table *t = &figures_of(f->r->core)->exchanges;

	if (*at >= t->slow_n)
		return false;
	*to = slow_exchange_figures_of(f->r, &t->slow[(*at)++]);
	return true;
}

static struct exchange_time_figures time_of(const struct report *r, const struct dist *d)
{
	return (struct exchange_time_figures){spread_of(d, true, r->hz)};
}

void part_exchange_time_spread(const struct exchange_time_figures *f, struct spread_figures *to)
{
	*to = f->spread;
}

void part_exchange_time_longest(const struct exchange_time_figures *f, struct spread_figures *to)
{
	*to = f->spread;
}

static struct value span(const struct slow_exchange_figures *f, enum exchange_time which)
{
	uint64_t cycles = f->s->span[which];

	return value_if(cycles != FACT_NONE, value_number(report_ns(f->r, (double)cycles)));
}

/* Returns 0, 1, 2, 5, 10, 20 ... */
static double edge(uintptr_t i)
{
	static const double digit[] = {1, 2, 5};

	return i ? digit[(i - 1) % 3] * pow(10, (double)((i - 1) / 3)) : 0;
}

bool time_bin_next(
	const struct report *r, const struct dist *d, uintptr_t *at, struct time_bin_figures *to)
{
	double below, upto, max = (double)d->max;

	if (!d->n || !(r->hz > 0))
		return false;
	for (below = 0; below <= max; below = upto) {
		uintptr_t i = (*at)++;

		upto = edge(i + 1) * r->hz / 1e9;
		below = edge(i) * r->hz / 1e9;
		*to = (struct time_bin_figures){
			edge(i), edge(i + 1), dist_weight_below(d, upto), 0};
		to->n = (uint64_t)(to->below - dist_weight_below(d, below));
		to->below /= (double)d->weight;
		if (to->n)
			return true;
	}
	return false;
}

bool next_exchange_group_to_reply_histogram(
	const struct exchange_group_figures *f, uintptr_t *at, struct time_bin_figures *to)
{
	return time_bin_next(f->r, &f->g->time[TIME_TO_REPLY], at, to);
}

bool next_exchange_group_in_program_histogram(
	const struct exchange_group_figures *f, uintptr_t *at, struct time_bin_figures *to)
{
	return time_bin_next(f->r, &f->g->time[TIME_PROGRAM], at, to);
}

static const char *role_name(uint8_t role)
{
	return role == ROLE_SERVER ? "server" : "client";
}

static const char *or_null(const char *s)
{
	return *s ? s : NULL;
}

/* clang-format off */
#define TIME(S, name, dist) \
	bool into_##S##_##name(const fig_of_##S *f, struct exchange_time_figures *to) { *to = time_of(f->r, dist); return true; }

GET(exchange_time, n, value_count(f->spread.d->n))

GET(time_bin, from_ns, value_number(f->from_ns))
GET(time_bin, to_ns, value_number(f->to_ns))
GET(time_bin, n, value_count(f->n))
GET(time_bin, below, value_number(f->below))

GET(exchange_group, role, value_text(role_name(f->g->key.role)))
GET(exchange_group, proto, value_text(mg_kind_name(f->g->key.kind)))
GET(exchange_group, comm, value_text(or_null(f->g->key.program)))
GET(exchange_group, address, value_text(or_null(f->address)))
GET(exchange_group, port, value_if(f->g->key.port, value_count(f->g->key.port)))
GET(exchange_group, answered, value_count(f->g->counts.answered))
GET(exchange_group, unanswered, value_count(f->g->counts.unanswered))
GET(exchange_group, in_requests_ns, value_number(report_ns(f->r, (double)f->g->in_requests)))
TIME(connects, took_ns, &figures_of(f->r->core)->connects.took)
TIME(exchange_group, unanswered_ns, &f->g->unanswered)
KNOWN(exchange_group, closings, core_knows_states(f->r->core))
GET(exchange_group, unanswered_total_ns, value_number(report_ns(f->r, (double)f->g->unanswered.sum)))
GET(exchange_group, unasked, value_count(f->g->counts.unasked))
GET(exchange_group, unsure, value_count(f->g->counts.unsure))
GET(exchange_group, role_assumed, value_count(f->g->counts.assumed))
GET(exchange_group, pipelined, value_count(f->g->pipelined))
GET(exchange_group, half_closed, value_count(f->g->half_closed))
GET(exchange_group, request_bytes, value_count(f->g->request_bytes))
GET(exchange_group, reply_bytes, value_count(f->g->reply_bytes))
TIME(exchange_group, to_reply_ns, &f->g->time[TIME_TO_REPLY])
TIME(exchange_group, request_way_ns, &f->g->time[TIME_WAY])
TIME(exchange_group, in_program_ns, &f->g->time[TIME_PROGRAM])
TIME(exchange_group, reply_way_ns, &f->g->time[TIME_BACK])

GET(slow_exchange, role, value_text(role_name(f->s->fact.role)))
GET(slow_exchange, proto, value_text(mg_kind_name(f->s->fact.kind)))
GET(slow_exchange, comm, value_text(or_null(f->s->program)))
GET(slow_exchange, local, value_text(or_null(f->local)))
GET(slow_exchange, remote, value_text(or_null(f->remote)))
GET(slow_exchange, request, value_text(f->request))
GET(slow_exchange, reply, value_text(f->reply))
GET(slow_exchange, ordinal, value_count(f->s->fact.ordinal))
GET(slow_exchange, request_offset, value_count(f->s->fact.request_offset))
GET(slow_exchange, request_bytes, value_count(f->s->fact.request_bytes))
GET(slow_exchange, reply_offset, value_count(f->s->fact.reply_offset))
GET(slow_exchange, reply_bytes, value_count(f->s->fact.reply_bytes))
GET(slow_exchange, request_tid, value_count(f->s->fact.request_tid))
GET(slow_exchange, reply_tid, value_count(f->s->fact.reply_tid))
GET(slow_exchange, time_ns, value_count(core_ns(f->r->core, f->s->fact.request_last)))
GET(slow_exchange, whole_ns, value_number(report_ns(f->r, (double)slow_exchange_whole(f->s))))
GET(slow_exchange, to_reply_ns, span(f, TIME_TO_REPLY))
GET(slow_exchange, request_way_ns, span(f, TIME_WAY))
GET(slow_exchange, in_program_ns, span(f, TIME_PROGRAM))
GET(slow_exchange, reply_way_ns, span(f, TIME_BACK))

#define COUNTS(f) (measures((f)->f)->exchanges.counts)
GET(flow_exchanges, answered, value_count(COUNTS(f).answered))
GET(flow_exchanges, unanswered, value_count(COUNTS(f).unanswered))
GET(flow_exchanges, unasked, value_count(COUNTS(f).unasked))
GET(flow_exchanges, unsure, value_count(COUNTS(f).unsure))
TIME(flow_exchanges, to_reply_ns, &measures(f->f)->exchanges.to_reply)
TIME(flow_exchanges, in_program_ns, &measures(f->f)->exchanges.in_program)
/* clang-format on */

bool into_flow_exchanges(const struct flow_figures *f, struct flow_figures *to)
{
	*to = *f;
	return COUNTS(f).answered || COUNTS(f).unanswered || COUNTS(f).unasked;
}
