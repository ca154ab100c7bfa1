/* SPDX-License-Identifier: MIT */
/* Sizes and spacings of packets at a layer (method: Table III of the seeds). */
#ifndef MAGNET_CORRELATE_CORE_SUMS_UNITS_H
#define MAGNET_CORRELATE_CORE_SUMS_UNITS_H

#include "core.h"

void unit_add(struct unit_stats *u, uint64_t t, uint64_t size);
/* Adds `len` bytes with sequence numbers, of which `fresh` were not seen before. */
void unit_pass(struct unit_stats *u, uint64_t t, uint64_t len, uint64_t fresh);
/* Enlarges the packet added last. */
void unit_more(struct unit_stats *u, uint64_t bytes);
/* Sets the size with headers of the packet added last, and the frames it stands for. */
void unit_wire(struct unit_stats *u, uint64_t frame, uint64_t packets);
/* Marks an interval in which packets may be missing: spacings that touch it do not count. */
void unit_gap(struct unit_stats *u, uint64_t from, uint64_t to);
void unit_free(struct unit_stats *u);

#endif
