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
 * Puts the filter of `g` before the listener that registered last for facts of this kind. `g` is
 * the caller's, and is there as long as the core.
 */
void gate_last(struct gated *g, struct core *c, const struct filter *f, enum fact kind);

#endif
