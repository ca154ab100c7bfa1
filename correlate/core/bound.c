/* SPDX-License-Identifier: MIT */
/* The memory of all flows' distributions together is bounded. */
#include "parts.h"

/*
 * So much holds every value of thirty distributions of 60,000 flows of a few requests, or of 4,000
 * flows of hundreds of requests; beyond, bins become wider.
 */
#define LIMIT        ((size_t)144 << 20)
#define TABLES_LIMIT ((size_t)32 << 20)

void bound_init(struct core *c)
{
	c->dists.limit = LIMIT;
	c->dists.tables_limit = TABLES_LIMIT;
}

static void each(
	struct flow *f, void (*fn)(struct dist *d, struct dist_pool *p), struct dist_pool *p)
{
	for (int i = 0; i < TX_LAYERS; i++)
		fn(&f->units[i].gaps, p);
	for (int i = 0; i < STAGES_MAX; i++)
		fn(&f->stage[i], p);
	fn(&f->residence, p);
	fn(&f->last_byte, p);
	fn(&f->shift_device, p); /* or shift_peer */
	fn(&f->transit, p);
	fn(&f->refusals.gap, p);
	if (f->from)
		fn(&f->from->gaps, p);
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

void bound_coarsen(struct core *c)
{
	struct dist_pool *p = &c->dists;
	struct mg_sock *s, *tmp;

	while (p->coarse < DIST_COARSEST && p->used > p->limit / 4 * 3) {
		p->coarse++;
		HASH_ITER (hh, c->socks, s, tmp) {
			each(&s->tx, coarsen, p);
			each(&s->rx, coarsen, p);
			waterfall_coarsen(&s->tx.waterfall, p->coarse);
			waterfall_coarsen(&s->rx.waterfall, p->coarse);
		}
	}
	if (p->used > p->limit / 4 * 3) /* these are the widest */
		p->limit = p->used * 2;
}
