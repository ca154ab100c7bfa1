/* SPDX-License-Identifier: MIT */
/*
 * The slowest byte ranges of a flow, for streams that have no exchanges (method, "Residence").
 * They are kept only if the slowest are asked for.
 */
#ifndef MAGNET_CORRELATE_FIGURES_SLOW_RANGES_H
#define MAGNET_CORRELATE_FIGURES_SLOW_RANGES_H

#include "facts/facts.h"

struct slow_range {
	uint64_t sock;
	uint64_t offset, length;
	uint64_t begin, total; /* cycles */
	uint64_t stage[STAGES_MAX];
	uint8_t why; /* sent bytes: what held them last, FACT_NO_WORD if nothing is known */
	bool rx;
};

struct slow_ranges {
	struct slow_range *of; /* a heap, the least slow first */
	uint32_t n, room;
	bool answered; /* the flow has exchanges: none are kept */
};

/* Keeps a range if it is one of the `most` slowest and all of its timestamps are known. */
void slow_ranges_add(struct slow_ranges **s, uint32_t most, const struct fact_range *r);
/* Forgets all, and keeps none from now on. */
void slow_ranges_answered(struct slow_ranges **s);
void slow_ranges_free(struct slow_ranges *s);
/* Compares two for qsort(), the slowest first. */
int slow_range_order(const void *a, const void *b);

#endif
