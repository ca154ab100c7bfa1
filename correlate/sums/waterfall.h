/* SPDX-License-Identifier: MIT */
/*
 * Mean stages of bytes with about the same total: quantiles of stages do not add up to the quantile
 * of the total, but the means of the bytes around it do. Bounded by the number of bins of the
 * total, which are 1/128 wide or less, or wider where a pool of distributions lacks room.
 */
#ifndef MAGNET_CORRELATE_WATERFALL_H
#define MAGNET_CORRELATE_WATERFALL_H

#include <stdint.h>

#include "sums/dist.h"

/*
 * With a pool, samples wait: two in a line of the cache take less memory and time than bins, of
 * which most would have one sample.
 */
struct waterfall {
	/* per cell: samples, weight, total, then the stages; all but samples are sums by weight */
	double *cell;
	uint32_t *place;        /* cells by key: open addressing, a power of two; 0 = free */
	struct dist_pool *pool; /* NULL: without limit */
	uint32_t size, used, cap;
	/* samples that wait, in cells whose words waterfall.c knows */
	struct dist_cell *late;
	uint16_t late_cells;
	uint8_t late_left; /* free words in the first cell */
	uint8_t bars;
	uint8_t coarse; /* binary digits by which the bins are wider than 1/128 */
};
#define WATERFALL_COARSEST 4

/* Adds a sample; the number of stages must be the same each time. */
void waterfall_add(
	struct waterfall *w, uint32_t bars, const uint64_t bar[], uint64_t total, uint64_t weight);
/* Adds all of another waterfall with as many stages. */
void waterfall_add_all(struct waterfall *w, const struct waterfall *from);
/*
 * Computes the mean stages and total of what ranks within half a percent of the quantile. Returns
 * the number of samples, 0 = there are none.
 */
double waterfall_at(const struct waterfall *w, double quantile, double bar[], double *total);
/*
 * Widens the bins by twice as many binary digits as those of distributions, as they take ten times
 * as much memory. Few bins stay as they are.
 */
void waterfall_coarsen(struct waterfall *w, unsigned int coarse);
/* Moves the samples that wait into bins where these are wide, unless there are few. */
void waterfall_trim(struct waterfall *w);
/* Return the bytes of a cell, and of all its memory. */
size_t waterfall_cell_size(const struct waterfall *w);
size_t waterfall_memory(const struct waterfall *w);
void waterfall_free(struct waterfall *w);

#endif
