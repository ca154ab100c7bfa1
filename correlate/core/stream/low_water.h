/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_CORE_STREAM_LOW_WATER_H
#define MAGNET_CORRELATE_CORE_STREAM_LOW_WATER_H

#include "core.h"

void rx_in_order_unreported(struct core *c, struct flow *f, uint64_t end, uint64_t now);

#endif
