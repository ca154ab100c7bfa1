/* SPDX-License-Identifier: MIT */
/* Bytes that were read although some event about it is missing. */
#ifndef MAGNET_CORRELATE_CORE_STREAM_RX_UNSEEN_H
#define MAGNET_CORRELATE_CORE_STREAM_RX_UNSEEN_H

#include "core.h"

void rx_give_up_holes(struct core *c, struct flow *f, uint64_t upto);
void rx_drop_done(struct flow *f);
void rx_consumed(struct core *c, struct flow *f, uint32_t copied_seq, uint64_t now);

#endif
