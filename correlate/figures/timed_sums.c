/* SPDX-License-Identifier: MIT */
#include "figures/timed_sums.h"

#include <stdlib.h>

#include "alloc.h"

struct timed_sums *timed_sums_new(struct dist_pool *pool)
{
	struct timed_sums *t = mg_calloc(1, sizeof(*t));

	timed_sums_share(t, pool);
	return t;
}

static void count_time(struct dist *d, uint64_t time)
{
	if (time != FACT_NONE)
		dist_add(d, time, 1);
}

void timed_sums_count(struct timed_sums *t, const struct fact_timed_send *f)
{
	bool whole = true;

	t->n[f->outcome]++;
	t->queued_again += f->queued > 1;
	for (int i = 0; i < TIMED_STAGES; i++) {
		count_time(&t->stage[i], f->stage[i]);
		whole &= f->stage[i] != FACT_NONE;
	}
	for (int i = 0; i < TIMED_STAGES && whole; i++)
		t->whole[i] += f->stage[i];
	t->whole_n += whole;
	count_time(&t->total, f->total);
	count_time(&t->at_most, f->at_most);
}

void timed_sums_add(struct timed_sums *sum, const struct timed_sums *t)
{
	for (int i = 0; i < TIMED_STAGES; i++) {
		dist_add_all(&sum->stage[i], &t->stage[i]);
		sum->whole[i] += t->whole[i];
	}
	sum->whole_n += t->whole_n;
	dist_add_all(&sum->total, &t->total);
	dist_add_all(&sum->at_most, &t->at_most);
	for (int i = 0; i < TIMED_OUTCOMES; i++)
		sum->n[i] += t->n[i];
	sum->queued_again += t->queued_again;
}

uint32_t timed_sums_dists(struct timed_sums *t, struct dist *all[TIMED_DISTS])
{
	uint32_t n = 0;

	if (!t)
		return 0;
	for (int i = 0; i < TIMED_STAGES; i++)
		all[n++] = &t->stage[i];
	all[n++] = &t->total;
	all[n++] = &t->at_most;
	return n;
}

void timed_sums_share(struct timed_sums *t, struct dist_pool *pool)
{
	struct dist *all[TIMED_DISTS];
	uint32_t n = timed_sums_dists(t, all);

	for (uint32_t i = 0; i < n; i++)
		all[i]->pool = pool;
}

void timed_sums_free(struct timed_sums *t)
{
	struct dist *all[TIMED_DISTS];
	uint32_t n = timed_sums_dists(t, all);

	for (uint32_t i = 0; i < n; i++)
		dist_free(all[i]);
	free(t);
}
