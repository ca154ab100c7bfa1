/* SPDX-License-Identifier: MIT */
/* What is summed up from facts while a recording is read; part of it still lies in the core's own
 * structs. */
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
 * Sums up what this core establishes from now on: call it after core_init(), before the first
 * event. It is freed with the core. Without memory core_lacks_memory() is true.
 */
void figures_attach(struct core *c);
/* Returns the figures of a core; all are empty where none were attached. */
const struct figures *figures_of(const struct core *c);

#endif
