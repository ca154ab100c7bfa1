/* SPDX-License-Identifier: MIT */
/* Offsets at which the calls in flight end: when its last byte has passed, all of a call has. */
#ifndef MAGNET_CORRELATE_CORE_BYTES_CALL_ENDS_H
#define MAGNET_CORRELATE_CORE_BYTES_CALL_ENDS_H

#include <stdbool.h>
#include <stdint.h>

/* Byte offsets, in order. A single one needs no memory. */
struct call_ends {
	union {
		uint64_t own;  /* cap == 0 */
		uint64_t *off; /* else */
	};
	uint32_t head, len, cap;
};

/* Returns the place of element number `i`. */
static inline uint64_t *call_ends_at(struct call_ends *e, uint32_t i)
{
	return (e->cap ? e->off : &e->own) + e->head + i;
}

void call_ends_add(struct call_ends *e, uint64_t off);
/* Removes one that ends at `upto` or before. Returns whether there was one. */
bool call_ends_take(struct call_ends *e, uint64_t upto);
void call_ends_free(struct call_ends *e);

#endif
