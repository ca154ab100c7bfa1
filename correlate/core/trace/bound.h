/* SPDX-License-Identifier: MIT */
/* Memory of all flows' distributions together. */
#ifndef MAGNET_CORRELATE_CORE_TRACE_BOUND_H
#define MAGNET_CORRELATE_CORE_TRACE_BOUND_H

#include "core.h"

void bound_init(struct core *c);
void bound_flow(struct core *c, struct flow *f);
#define FLOW_DISTS (TX_LAYERS + STAGES_MAX + 6)
/* Fills in all bounded distributions of a flow. Returns how many there are. */
uint32_t flow_dists(struct flow *f, struct dist *all[FLOW_DISTS]);
/* Widens the bins, after the limit was exceeded. */
void bound_coarsen(struct core *c);
/* Frees spare memory of a flow that hardly any event will concern. */
void bound_trim(struct flow *f);

#endif
