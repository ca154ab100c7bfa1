/* SPDX-License-Identifier: MIT */
/* Puts a filter before listeners of facts, which then get only what it takes. */
#ifndef MAGNET_CORRELATE_FILTER_GATE_H
#define MAGNET_CORRELATE_FILTER_GATE_H

#include "filter/filter.h"

/* A listener behind the filter. */
struct gated {
	const struct filter *filter;
	struct core *core;
	enum fact kind;
	fact_fn fn;
	void *arg;
	uint64_t *taken, *all; /* counts of facts; may be NULL */
};

/*
 * Puts the filter before the listeners for facts of this kind, but for the `first` that registered
 * first. The `room` in `g` is the caller's, and is there as long as the core. Returns how much of
 * it is used.
 */
uint32_t gate_listeners(struct gated *g, uint32_t room, struct core *c, const struct filter *f,
	enum fact kind, uint32_t first);

#endif
