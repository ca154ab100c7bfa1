/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_CORE_STREAM_HEAD_OF_LINE_H
#define MAGNET_CORRELATE_CORE_STREAM_HEAD_OF_LINE_H

#include "core.h"

/* Time in RX_OVERTOOK of bytes for which it is unknown. */
#define OVERTOOK_UNKNOWN UINT64_MAX
/* Call it when bytes [from, to) have become readable, before they are noted as such. */
void rx_note_overtaking(struct core *c, struct flow *f, uint64_t from, uint64_t to);

#endif
