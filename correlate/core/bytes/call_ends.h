/* SPDX-License-Identifier: MIT */
/* Offsets at which the calls in flight end: when its last byte has passed, all of a call has. */
#ifndef MAGNET_CORRELATE_CORE_BYTES_CALL_ENDS_H
#define MAGNET_CORRELATE_CORE_BYTES_CALL_ENDS_H

#include <stdbool.h>
#include <stdint.h>

/* Byte offsets, in order. */
struct call_ends {
	uint64_t *off;
	uint32_t head, len, cap;
};

void call_ends_add(struct call_ends *e, uint64_t off);
/* Removes one that ends at `upto` or before. Returns whether there was one. */
bool call_ends_take(struct call_ends *e, uint64_t upto);

#endif
