/* SPDX-License-Identifier: MIT */
/* Sizes and spacings of units at a layer (method: Table III of the seeds). */
#ifndef MAGNET_CORRELATE_CORE_SUMS_UNITS_H
#define MAGNET_CORRELATE_CORE_SUMS_UNITS_H

#include "core.h"

void unit_add(struct unit_stats *u, uint64_t t, uint64_t size);
/* The same of `len` bytes with numbers, of which so many were not seen before. */
void unit_pass(struct unit_stats *u, uint64_t t, uint64_t len, uint64_t fresh);
/* The unit added last is larger. */
void unit_more(struct unit_stats *u, uint64_t bytes);
/* Of the unit added last: what it takes with headers, and the packets it stands for. */
void unit_wire(struct unit_stats *u, uint64_t frame, uint64_t packets);
/* Units may be missing in between: spacings that touch it are none. */
void unit_gap(struct unit_stats *u, uint64_t from, uint64_t to);
void unit_free(struct unit_stats *u);

#endif
