/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_CORE_STREAM_UNSENT_H
#define MAGNET_CORRELATE_CORE_STREAM_UNSENT_H

#include "core.h"

void tx_find_unsent(struct core *c, struct flow *f); /* call it once all events are in */
/* Settles a byte range with known times; `layers` are those it must have, as bits. */
void tx_atom(struct core *c, struct flow *f, uint32_t layers, uint64_t a, uint64_t b,
	const uint64_t t[], uint32_t present);

#endif
