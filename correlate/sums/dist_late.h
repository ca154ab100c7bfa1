/* SPDX-License-Identifier: MIT */
/* Memory of the values that wait for their bins. */
#ifndef MAGNET_CORRELATE_SUMS_DIST_LATE_H
#define MAGNET_CORRELATE_SUMS_DIST_LATE_H

#include "sums/dist.h"

/* Returns a cell; NULL without memory. Without a pool it is malloc()'s. */
struct dist_cell *dist_cell_new(struct dist_pool *p);
/* Frees a cell. Returns the one before it. */
struct dist_cell *dist_cell_drop(struct dist_pool *p, struct dist_cell *c);
/* Returns how many values of a distribution are in one. */
static inline uint32_t dist_per_cell(const struct dist *d)
{
	return d->is_mixed ? DIST_CELL_MIXED : DIST_CELL;
}
/* Returns how many a distribution has. */
uint32_t dist_cells(const struct dist *d);
/* Frees them: no value waits any more. */
void dist_cells_free(struct dist *d);

#endif
