/* SPDX-License-Identifier: MIT */
/* Offsets at which the calls in flight end: when its last byte has passed, all of a call has. */
#ifndef MAGNET_CORRELATE_CORE_STREAM_CALL_ENDS_H
#define MAGNET_CORRELATE_CORE_STREAM_CALL_ENDS_H

#include "core.h"

void call_ends_add(struct call_ends *e, uint64_t off);
/* Removes one that ends at `upto` or before. Returns whether there was one. */
bool call_ends_take(struct call_ends *e, uint64_t upto);

#endif
