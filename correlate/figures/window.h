/* SPDX-License-Identifier: MIT */
/*
 * Counters of a flow in a window of time, from facts: those that the core keeps of a flow are of
 * its whole life (method, "Filters").
 */
#ifndef MAGNET_CORRELATE_FIGURES_WINDOW_H
#define MAGNET_CORRELATE_FIGURES_WINDOW_H

#include "figures/measures.h"

struct flow_window {
	uint64_t calls, bytes, kernel_only;  /* of calls that began in the window */
	uint64_t followed, incomplete;       /* bytes of ranges that did */
	uint64_t ambiguous, undivided;       /* those of the followed that are in no stage */
	uint64_t retransmits, retransmitted; /* segments, bytes */
	uint64_t syn_retries;
	uint64_t dropped, discarded;          /* segments */
	uint64_t first_call, last_call, last; /* begin of the calls, end of the last; cycles */
	uint64_t blocked;                     /* cycles of the threads in them */
};

/* Registers for the facts that are counted. Call it after measures_listen(). */
void window_listen(struct measures_memory *m, struct core *c);
/* Adds those of another flow. */
void window_add(struct flow_window *sum, const struct flow_window *w);
/* Puts those of the window in place of the flow's own, which are 0 where a window has none. */
void window_apply(struct fact_flow *f);
/* Returns whether a counter, by its offset in the fact, is known of a window. */
bool window_knows(size_t offset);

#endif
