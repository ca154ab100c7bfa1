/* SPDX-License-Identifier: MIT */
/* Adds the measures of many flows to those of groups, by two threads. */
#ifndef MAGNET_CORRELATE_FIGURES_MEASURES_SUMS_H
#define MAGNET_CORRELATE_FIGURES_MEASURES_SUMS_H

#include "figures/measures.h"

/* A flow's measures, and those of its group. */
struct measures_addend {
	const struct flow_measures *flow;
	struct flow_measures *sum;
	size_t group; /* its number, from 0 on */
};

/* Adds all as measures_add() does, those of a group in order. */
void measures_add_groups(const struct measures_addend *all, size_t n, size_t groups);

#endif
