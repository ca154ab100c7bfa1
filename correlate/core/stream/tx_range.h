/* SPDX-License-Identifier: MIT */
/*
 * Ranges of sent bytes whose times are all known, or cannot become known any more: each is emitted
 * as a fact, with its time in each stage, and forgotten (method, "Residence").
 */
#ifndef MAGNET_CORRELATE_CORE_STREAM_TX_RANGE_H
#define MAGNET_CORRELATE_CORE_STREAM_TX_RANGE_H

#include "core.h"

/*
 * Settles the ranges of a flow that can be settled now. Call it when bytes have passed the last
 * layer, and once at the end of the socket or recording.
 */
void tx_settle_ranges(struct core *c, struct flow *f, bool at_end);
/*
 * Settles one range whose times the caller has, as of a message; `layers` are those it must have
 * to be complete, as bits.
 */
void tx_settle_range(struct core *c, struct flow *f, uint32_t layers, uint64_t a, uint64_t b,
	const uint64_t t[], uint32_t present);

#endif
