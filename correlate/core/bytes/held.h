/* SPDX-License-Identifier: MIT */
/*
 * Record of what held the first unsent byte of a send queue over time. The bytes behind it wait for
 * the same cause, so the record divides the wait of each byte by cause.
 */
#ifndef MAGNET_CORRELATE_CORE_BYTES_HELD_H
#define MAGNET_CORRELATE_CORE_BYTES_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "facts/why_reasons.h"

/*
 * Limit of spans: where causes change more often, the oldest time is forgotten and counts as
 * unknown.
 */
#define HELD_SPANS_MAX 4096

struct held_span {
	uint64_t until;
	uint32_t reason;
};

/* A time, and the span that contains it. */
struct held_cursor {
	uint64_t t;
	uint32_t at;
};

/* The record; times are in cycles. All zero is an empty one. */
struct held_time {
	struct held_span *span; /* a ring, a power of two */
	uint32_t head, len, cap;
	uint64_t begin, end;         /* time of all spans: [begin, end) */
	struct held_cursor from, to; /* byte range of the last query */
	uint64_t between[WHYS];      /* time in each cause between the two */
};

/* Adds what held from the end of the record until `until`. */
void held_add(struct held_time *h, enum why_reason reason, uint64_t until);
/* Adds that nothing waited from the end of the record until `until`. */
void held_skip(struct held_time *h, uint64_t until);
/*
 * Divides [from, to) by cause; the sum is to - from, and time not covered counts as unknown.
 * Queries must be in order of `from`: earlier spans are forgotten.
 */
void held_divide(struct held_time *h, uint64_t from, uint64_t to, uint64_t by[WHYS]);
/* Returns whether there would be only one cause, looking at the first span only. */
bool held_one(const struct held_time *h, uint64_t from, uint64_t to, enum why_reason *reason);
/* Adds the time of any range to `by`, span by span; forgets nothing. */
void held_sum(const struct held_time *h, uint64_t from, uint64_t to, uint64_t by[WHYS]);
void held_free(struct held_time *h);

#endif
