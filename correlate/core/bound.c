/* SPDX-License-Identifier: MIT */
/* The memory of all flows' distributions together is bounded. */
#include "parts.h"

/*
 * So much holds every value of 16,000 flows of a hundred requests each, and those of some hundred
 * busy flows in hash tables, which are faster; these give way first. Beyond, bins become wider.
 */
#define LIMIT        ((size_t)152 << 20)
#define TABLES_LIMIT ((size_t)120 << 20)

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

static void for_all(struct core *c, void (*fn)(struct dist *d, struct dist_pool *p))
{
	struct mg_sock *s, *tmp;

	HASH_ITER (hh, c->socks, s, tmp) {
		each(&s->tx, fn, &c->dists);
		each(&s->rx, fn, &c->dists);
	}
}

static void coarsen_waterfalls(struct core *c)
{
	struct mg_sock *s, *tmp;

	HASH_ITER (hh, c->socks, s, tmp) {
		waterfall_coarsen(&s->tx.waterfall, c->dists.coarse);
		waterfall_coarsen(&s->rx.waterfall, c->dists.coarse);
	}
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
	for_all(c, trim);
	while (p->coarse < DIST_COARSEST && is_large(p)) {
		p->coarse++;
		for_all(c, coarsen);
		coarsen_waterfalls(c);
	}
	if (is_large(p)) /* these are the widest */
		p->limit = (p->used + p->tables) * 2;
}
