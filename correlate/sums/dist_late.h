/* SPDX-License-Identifier: MIT */
/* Memory of the values that wait for their bins. */
#ifndef MAGNET_CORRELATE_SUMS_DIST_LATE_H
#define MAGNET_CORRELATE_SUMS_DIST_LATE_H

#include "sums/dist.h"

/* Returns a cell; NULL without memory. Without a pool it is malloc()'s. */
struct dist_cell *dist_cell_new(struct dist_pool *p);
/* Returns how many a distribution has. */
uint32_t dist_cells(const struct dist *d);
/* Frees them: no value waits any more. */
void dist_cells_free(struct dist *d);

#endif
