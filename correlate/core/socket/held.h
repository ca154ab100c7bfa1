/* SPDX-License-Identifier: MIT */
/*
 * An account of what held the first unsent byte of a send queue, from one time to the next. The
 * bytes behind it wait for the same, so this divides the wait of each byte by reason.
 */
#ifndef MAGNET_CORRELATE_HELD_H
#define MAGNET_CORRELATE_HELD_H

#include <stdbool.h>
#include <stdint.h>

#include "facts/why_reasons.h"

/* The oldest time is forgotten, and counts as not known, where the reason changed more often. */
#define HELD_SPANS_MAX 4096

struct held_span {
	uint64_t until;
	uint32_t reason;
};

/* A time, and the span it is in. */
struct held_cursor {
	uint64_t t;
	uint32_t at;
};

/* Times are in cycles. All zero is an empty one. */
struct held_time {
	struct held_span *span; /* a ring, a power of two */
	uint32_t head, len, cap;
	uint64_t begin, end;         /* of all spans: [begin, end) */
	struct held_cursor from, to; /* of the byte range that was asked for last */
	uint64_t between[WHYS];      /* time in each reason between the two */
};

/* Tell what held from the end until `until`. */
void held_add(struct held_time *h, enum why_reason reason, uint64_t until);
/* Nothing waited from the end until `until`. */
void held_skip(struct held_time *h, uint64_t until);
/*
 * Divide [from, to) by reason; the sum is to - from, and what is not covered is not known. Ranges
 * are asked for in order of `from`: what lies before the last one is forgotten.
 */
void held_divide(struct held_time *h, uint64_t from, uint64_t to, uint64_t by[WHYS]);
/* Whether that would be one reason, without looking further than the first. */
bool held_one(const struct held_time *h, uint64_t from, uint64_t to, enum why_reason *reason);
/* Add any range's time to `by`, one span after another; nothing is forgotten. */
void held_sum(const struct held_time *h, uint64_t from, uint64_t to, uint64_t by[WHYS]);
void held_free(struct held_time *h);

#endif
