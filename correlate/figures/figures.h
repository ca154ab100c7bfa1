/* SPDX-License-Identifier: MIT */
/*
 * Figures that are summed up from facts while a recording is read. Those of a flow are got with
 * measures().
 */
#ifndef MAGNET_CORRELATE_FIGURES_FIGURES_H
#define MAGNET_CORRELATE_FIGURES_FIGURES_H

#include "core/contract.h"
#include "figures/calls.h"
#include "figures/connects.h"
#include "figures/drops.h"
#include "figures/exchanges.h"
#include "figures/measures.h"
#include "figures/scheduler.h"
#include "figures/stacks.h"
#include "filter/gate.h"

#define FIGURES_GATES 16
struct figures {
	struct measures_memory memory;
	struct sched_stats sched;
	struct call_table calls;
	struct exchange_table exchanges;
	struct connect_stats connects;
	const struct filter *filter; /* NULL: all of the recording counts */
	struct gated gate[FIGURES_GATES];
	/* these are not next to what another thread may sum up (figures_apart()) */
	struct drop *drops; /* a hash table */
	struct stack_table stacks;
	uint64_t calls_all, calls_taken; /* with a filter: calls, and those that it takes */
	uint32_t listeners;              /* number of listeners registered */
};

/*
 * Sums up every fact that the core establishes from now on: call it after core_init(), before the
 * first event. core_free() frees the figures. Without memory core_lacks_memory() is true.
 */
void figures_attach(struct core *c);
/*
 * Has the facts summed up by a thread of its own, where nobody else listens to facts and nothing is
 * filtered: the results are the same. Call it right before the first event.
 */
void figures_apart(struct core *c);
/*
 * Keeps every packet of every layer, in at most `bytes` bytes. Call it before the first event. A
 * series that does not fit is cut and marked as such.
 */
void figures_keep_series(struct core *c, size_t bytes);
/*
 * Has only what the filter takes counted. It stays the caller's until the core is gone. Call it
 * right after figures_attach(), and do not pack closed sockets then.
 */
void figures_filter(struct core *c, const struct filter *f);
/*
 * Returns whether a flow was chosen; if only a window of time was, its counters become those of the
 * window.
 */
bool figures_take_flow(struct core *c, struct fact_flow *f);
/* Does the latter, whether it was chosen or not. */
void figures_in_window(struct core *c, struct fact_flow *f);
/*
 * Keeps so many of the slowest exchanges, and of the slowest byte ranges of flows without
 * exchanges. Call it before the first event.
 */
void figures_keep_slowest(struct core *c, uint32_t n);
/* Keeps that exchange instead of the slowest, as exchange_table_keep_only() does. */
void figures_keep_exchange(struct core *c, const struct exchange_id *only);
/*
 * Has each exchange told that is divided by cause, and bytes that were sent again, which may come
 * later. Call it before the first event. Both may be called by the thread of figures_apart().
 */
void figures_tell_exchanges(struct core *c,
	void (*divided)(void *arg, const struct divided_exchange *d),
	void (*resent)(void *arg, const struct fact_resent *f), void *arg);
/* Returns the figures of a core, all of them empty where none were attached. */
const struct figures *figures_of(const struct core *c);

#endif
