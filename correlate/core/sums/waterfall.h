/* SPDX-License-Identifier: MIT */
/*
 * The bars of bytes whose total is about the same: quantiles of bars do not add up to the quantile
 * of the total, but the means of the bytes around it do. Bounded by the number of bins of the
 * total, which are 1/128 wide or less; wider where a pool of distributions lacks room.
 */
#ifndef MAGNET_CORRELATE_WATERFALL_H
#define MAGNET_CORRELATE_WATERFALL_H

#include <stdint.h>

#include "sums/dist.h"

struct waterfall {
	/* of each: samples, weight, total, then the bars; all but samples by weight */
	double *cell;
	uint32_t *place; /* of a cell by its key: open addressing, a power of two; 0 = free */
	struct dist_pool *pool; /* NULL: without limit */
	uint32_t size, used, cap;
	uint8_t bars;
	uint8_t coarse; /* binary digits by which the bins are wider than 1/128 */
};
#define WATERFALL_COARSEST 4

/* The number of bars must be the same each time. */
void waterfall_add(
	struct waterfall *w, uint32_t bars, const uint64_t bar[], uint64_t total, uint64_t weight);
/* All of another of as many bars. */
void waterfall_add_all(struct waterfall *w, const struct waterfall *from);
/*
 * Mean bars and total of what ranks within half a percent of the quantile. Returns how many samples
 * that is, 0 = there are none.
 */
double waterfall_at(const struct waterfall *w, double quantile, double bar[], double *total);
/*
 * Make the bins wider by twice as many binary digits as those of distributions are; they take ten
 * times as much. Few are left as they are.
 */
void waterfall_coarsen(struct waterfall *w, unsigned int coarse);
/* Bytes of a cell, and of the memory that all of it takes. */
size_t waterfall_cell_size(const struct waterfall *w);
size_t waterfall_memory(const struct waterfall *w);
void waterfall_free(struct waterfall *w);

#endif
