/* SPDX-License-Identifier: MIT */
#include "figures/bound.h"

/*
 * Holds every value of 16,000 flows with a hundred requests each, and some hundred busy flows in
 * hash tables, which are faster but give way first. Beyond this limit bins become wider.
 */
#define LIMIT        ((size_t)144 << 20)
#define TABLES_LIMIT ((size_t)96 << 20)

void bound_init(struct measures_memory *m)
{
	m->dists.limit = LIMIT;
	m->dists.tables_limit = TABLES_LIMIT;
}

void bound_packed(void *memory, size_t more, size_t less)
{
	struct measures_memory *m = memory;

	m->dists.used += more - less;
	measures_check(m);
}

#define ALL_DISTS (MEASURES_DISTS + TIMED_DISTS)

static uint32_t all_dists(struct flow_measures *m, struct dist *all[ALL_DISTS])
{
	uint32_t n = measures_dists(m, all);

	return n + timed_sums_dists(m->timed, all + n);
}

static void each_dist(struct flow_measures *m, void (*of_dist)(struct dist *d))
{
	struct dist *all[ALL_DISTS];
	uint32_t n = all_dists(m, all);

	for (uint32_t i = 0; i < n; i++)
		of_dist(all[i]);
}

void bound_trim(void *memory, void *state)
{
	(void)memory;
	each_dist(state, dist_trim);
	waterfall_trim(&((struct flow_measures *)state)->waterfall);
}

static void save(void *memory, void *state)
{
	(void)memory;
	each_dist(state, dist_save);
}

static void coarsen(void *memory, void *state)
{
	const struct measures_memory *with = memory;
	struct flow_measures *m = state;
	struct dist *all[ALL_DISTS];
	uint32_t n = all_dists(m, all);

	for (uint32_t i = 0; i < n; i++) {
		dist_save(all[i]);
		dist_coarsen(all[i], with->dists.coarse);
	}
	waterfall_trim(&m->waterfall);
	waterfall_coarsen(&m->waterfall, with->dists.coarse);
}

/* Packed sockets with fewer bytes have next to no bins that could be merged. */
#define WORTH_IT 4096

static bool is_large(const struct dist_pool *p)
{
	return p->used + p->tables > p->limit / 4 * 3;
}

static void widen(struct measures_memory *m, struct core *c)
{
	struct dist_pool *p = &m->dists;

	core_each_state(c, SIZE_MAX, save);
	while (p->coarse < DIST_COARSEST && is_large(p)) {
		p->coarse++;
		core_each_state(c, WORTH_IT, coarsen);
	}
	if (is_large(p)) { /* these are the widest */
		p->limit = (p->used + p->tables) * 2;
		p->tables_limit = p->limit / 16;
	}
}

void bound_between(void *memory, struct core *c)
{
	struct measures_memory *m = memory;

	if (dist_pool_check(&m->dists))
		widen(m, c);
}
