/* SPDX-License-Identifier: MIT */
/*
 * Values that wait for their bins, in cells as large as a line of the cache. Thousands of
 * connections have tens of thousands of such lists: the C library would join and split their memory
 * all the time, and ask the system for each page of a thread's. Cells that were emptied are used
 * first, as they are in the cache.
 */
#include "sums/dist_late.h"

#include <stdlib.h>

#include "alloc.h"
#include "sums/dist_bins.h"

#define BLOCK_CELLS 1023

struct dist_block {
	struct dist_block *before;
	uint32_t taken; /* cells that were ever used */
	struct dist_cell cell[BLOCK_CELLS] __attribute__((aligned(sizeof(struct dist_cell))));
};

/* Returns a cell of the pool's; NULL without memory. */
static struct dist_cell *cell_of(struct dist_pool *p)
{
	struct dist_cell *spare = p->spare;
	struct dist_block *b = p->block;

	if (spare) {
		p->spare = spare->before;
		__builtin_prefetch(p->spare, 1);
		return spare;
	}
	if (!b || b->taken == BLOCK_CELLS) {
		b = mg_aligned_alloc(_Alignof(struct dist_block), sizeof(*b));
		if (!b)
			return NULL;
		b->before = p->block;
		b->taken = 0;
		p->block = b;
	}
	return &b->cell[b->taken++];
}

struct dist_cell *dist_cell_new(struct dist_pool *p)
{
	return p ? cell_of(p) : mg_malloc(sizeof(struct dist_cell));
}

struct dist_cell *dist_cell_drop(struct dist_pool *p, struct dist_cell *c)
{
	struct dist_cell *before = c->before;

	if (p) {
		c->before = p->spare;
		p->spare = c;
	} else {
		free(c);
	}
	return before;
}

uint32_t dist_cells(const struct dist *d)
{
	uint32_t listed = d->late_n ? d->late_n - 1u : 0, per = dist_per_cell(d);

	return (listed + per - 1) / per;
}

void dist_cells_free(struct dist *d)
{
	dist_account(d, 0, dist_cells(d) * sizeof(struct dist_cell), false);
	while (d->late) /* there are fewer if memory was short when it was unpacked */
		d->late = dist_cell_drop(d->pool, d->late);
	d->late_n = d->late_left = 0;
}

void dist_pool_free(struct dist_pool *p)
{
	while (p->block) {
		struct dist_block *b = p->block;

		p->block = b->before;
		free(b);
	}
	p->spare = NULL;
}
