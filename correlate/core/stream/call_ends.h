/* SPDX-License-Identifier: MIT */
/* Where the calls end whose bytes are on their way: when their last byte is through, all are. */
#ifndef MAGNET_CORRELATE_CORE_STREAM_CALL_ENDS_H
#define MAGNET_CORRELATE_CORE_STREAM_CALL_ENDS_H

#include "core.h"

void call_ends_add(struct call_ends *e, uint64_t off);
/* Whether one is left that ends there or before; it is taken. */
bool call_ends_take(struct call_ends *e, uint64_t upto);

#endif
