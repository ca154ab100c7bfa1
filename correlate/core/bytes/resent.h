/* SPDX-License-Identifier: MIT */
/* Bytes of a flow that were sent more than once, until they cannot be sent again. */
#ifndef MAGNET_CORRELATE_CORE_BYTES_RESENT_H
#define MAGNET_CORRELATE_CORE_BYTES_RESENT_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes [a, b), with the times they were first and last handed to IP; cycles. */
struct resent_range {
	uint64_t a, b, first, last;
};

struct resent {
	struct resent_range *range; /* ranges that may be sent again, unordered */
	uint32_t n, cap;
};

struct core;
struct flow;
/*
 * Call it when the bytes [a, b) are handed to IP and some of them were before, after they are
 * noted.
 */
void resent_on_copy(const struct core *c, struct flow *f, uint64_t a, uint64_t b, uint64_t now);
/* Returns whether bytes of [from, to) were sent again and are not settled yet. */
bool resent_is_pending(const struct flow *f, uint64_t from, uint64_t to);
/* Settles the ranges that end at `upto` or before, in order: they will not be sent again. */
void resent_settle(const struct core *c, struct flow *f, uint64_t upto);
void resent_shift(struct flow *f, uint64_t by);
void resent_free(struct resent *r);

#endif
