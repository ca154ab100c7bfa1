/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_CORE_STREAM_WHY_SPLIT_H
#define MAGNET_CORRELATE_CORE_STREAM_WHY_SPLIT_H

#include "core.h"

void why_on_limits(struct flow *tx, const struct mg_tcp_limits *p);
void why_on_congestion(struct flow *tx, const struct mg_tcp_cong *p, uint64_t now);
/* Call it when events that show what holds the bytes are missing. */
void why_on_gap(struct why *w);

#endif
