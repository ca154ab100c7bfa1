/* SPDX-License-Identifier: MIT */
/* Sums up a flow's sends by the kernel's timestamps (method, "Sends by the kernel's timestamps").
 */
#ifndef MAGNET_CORRELATE_FIGURES_TIMED_SUMS_H
#define MAGNET_CORRELATE_FIGURES_TIMED_SUMS_H

#include "facts/facts.h"
#include "sums/dist.h"

struct timed_sums {
	struct dist stage[TIMED_STAGES], total; /* cycles; of the last byte of each send */
	struct dist at_most;                    /* of the total, where only that is known, too */
	dist_sum whole[TIMED_STAGES];           /* of sends of which all stages are known */
	uint64_t whole_n;
	uint64_t n[TIMED_OUTCOMES];
	uint64_t queued_again; /* sends whose last segment came to its device's queue more than once
				*/
};

/* Returns new sums that share the pool; it may be NULL. Returns NULL if memory is short. */
struct timed_sums *timed_sums_new(struct dist_pool *pool);
void timed_sums_count(struct timed_sums *t, const struct fact_timed_send *f);
void timed_sums_add(struct timed_sums *sum, const struct timed_sums *t);
/* Fills in all distributions. Returns how many there are, 0 if `t` is NULL. */
#define TIMED_DISTS (TIMED_STAGES + 2)
uint32_t timed_sums_dists(struct timed_sums *t, struct dist *all[TIMED_DISTS]);
void timed_sums_share(struct timed_sums *t, struct dist_pool *pool);
void timed_sums_free(struct timed_sums *t);

#endif
