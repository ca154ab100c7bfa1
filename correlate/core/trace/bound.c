/* SPDX-License-Identifier: MIT */
/* Bounds the memory of all flows' distributions together. */
#include "trace/bound.h"

#include "core.h"
#include "event_table.h"
#include "socket/closed.h"
#include "sums/dist.h"
#include "sums/waterfall.h"

/*
 * Holds every value of 12,000 flows with a hundred requests each, and some hundred busy flows in
 * hash tables, which are faster but give way first. Beyond this limit bins become wider.
 */
#define LIMIT        ((size_t)120 << 20)
#define TABLES_LIMIT ((size_t)96 << 20)

void bound_init(struct core *c)
{
	c->dists.limit = LIMIT;
	c->dists.tables_limit = TABLES_LIMIT;
}

uint32_t flow_dists(struct flow *f, struct dist *all[FLOW_DISTS])
{
	uint32_t n = 0;

	for (int i = 0; i < TX_LAYERS; i++)
		all[n++] = &f->units[i].gaps;
	for (int i = 0; i < STAGES_MAX; i++)
		all[n++] = &f->stage[i];
	all[n++] = &f->residence;
	all[n++] = &f->last_byte;
	all[n++] = &f->shift_device; /* or shift_peer */
	all[n++] = &f->transit;
	all[n++] = &f->refusals.gap;
	if (f->from)
		all[n++] = &f->from->gaps;
	return n;
}

static void each(
	struct flow *f, void (*fn)(struct dist *d, struct dist_pool *p), struct dist_pool *p)
{
	struct dist *all[FLOW_DISTS];
	uint32_t n = flow_dists(f, all);

	for (uint32_t i = 0; i < n; i++)
		fn(all[i], p);
}

static void share(struct dist *d, struct dist_pool *p)
{
	d->pool = p;
}

void bound_flow(struct core *c, struct flow *f)
{
	each(f, share, &c->dists);
	f->waterfall.pool = &c->dists;
}

static void coarsen(struct dist *d, struct dist_pool *p)
{
	dist_coarsen(d, p->coarse);
}

static void trim(struct dist *d, struct dist_pool *p)
{
	(void)p;
	dist_trim(d);
}

void bound_trim(struct flow *f)
{
	each(f, trim, NULL);
}

static void trim_all(struct core *c)
{
	struct mg_sock *s, *tmp;

	HASH_ITER (hh, c->socks, s, tmp) {
		bound_trim(&s->tx);
		bound_trim(&s->rx);
	}
}

static void coarsen_sock(struct core *c, struct mg_sock *s)
{
	each(&s->tx, coarsen, &c->dists);
	each(&s->rx, coarsen, &c->dists);
	waterfall_coarsen(&s->tx.waterfall, c->dists.coarse);
	waterfall_coarsen(&s->rx.waterfall, c->dists.coarse);
}

/* Packed sockets with fewer bytes have next to no bins that could be merged. */
#define WORTH_IT 4096

static void coarsen_all(struct core *c)
{
	struct mg_sock *s, *tmp;

	HASH_ITER (hh, c->socks, s, tmp)
		coarsen_sock(c, s);
	closed_each(c, WORTH_IT, coarsen_sock);
}

static bool is_large(const struct dist_pool *p)
{
	return p->used + p->tables > p->limit / 4 * 3;
}

void bound_coarsen(struct core *c)
{
	struct dist_pool *p = &c->dists;

	p->tables_limit = p->limit / 16;
	p->is_scarce = true;
	trim_all(c);
	while (p->coarse < DIST_COARSEST && is_large(p)) {
		p->coarse++;
		coarsen_all(c);
	}
	if (is_large(p)) /* these are the widest */
		p->limit = (p->used + p->tables) * 2;
}
