/* SPDX-License-Identifier: MIT */
/* The memory of all flows' distributions together. */
#ifndef MAGNET_CORRELATE_CORE_TRACE_BOUND_H
#define MAGNET_CORRELATE_CORE_TRACE_BOUND_H

#include "core.h"

void bound_init(struct core *c);
void bound_flow(struct core *c, struct flow *f);
#define FLOW_DISTS (TX_LAYERS + STAGES_MAX + 6)
/* Fills in all of a flow's that are bounded, and returns how many they are. */
uint32_t flow_dists(struct flow *f, struct dist *all[FLOW_DISTS]);
/* It has used more than it may: bins become wider. */
void bound_coarsen(struct core *c);
/* Hardly anything more will come to this flow. */
void bound_trim(struct flow *f);

#endif
