/* SPDX-License-Identifier: MIT */
/*
 * Figures that are summed up from facts while a recording is read. The core's own structs still
 * hold the others.
 */
#ifndef MAGNET_CORRELATE_FIGURES_FIGURES_H
#define MAGNET_CORRELATE_FIGURES_FIGURES_H

#include "core/core.h"
#include "figures/calls.h"
#include "figures/drops.h"
#include "figures/scheduler.h"

struct figures {
	struct call_table calls;
	struct sched_stats sched;
	struct drop *drops; /* a hash table */
};

/*
 * Sums up every fact that the core establishes from now on: call it after core_init(), before the
 * first event. core_free() frees the figures. Without memory core_lacks_memory() is true.
 */
void figures_attach(struct core *c);
/* Returns the figures of a core, all of them empty where none were attached. */
const struct figures *figures_of(const struct core *c);

#endif
