/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_CORE_STREAM_HEAD_OF_LINE_H
#define MAGNET_CORRELATE_CORE_STREAM_HEAD_OF_LINE_H

#include "core.h"

/* Time in RX_OVERTOOK of bytes for which it is unknown. */
#define OVERTOOK_UNKNOWN UINT64_MAX
/*
 * Call it when bytes [from, to) have become readable, before they are noted as such; `by_tcp`:
 * TCP's own event of receiving a segment reports them.
 */
void rx_note_overtaking(
	const struct core *c, struct flow *f, uint64_t from, uint64_t to, bool by_tcp);

#endif
