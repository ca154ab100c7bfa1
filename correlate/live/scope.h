/* SPDX-License-Identifier: MIT */
/* The latest points of one connection: sizes of its calls, and delays of its bytes, over time. */
#ifndef MAGNET_CORRELATE_LIVE_SCOPE_H
#define MAGNET_CORRELATE_LIVE_SCOPE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/contract.h"

#define SCOPE_POINTS 8192

enum scope_kind { SCOPE_SIZE, SCOPE_DELAY, SCOPE_KINDS };

struct scope_point {
	uint64_t ns;  /* CLOCK_MONOTONIC */
	double value; /* bytes, or ns */
	bool received;
};

struct scope {
	uint64_t sock; /* 0: no connection is watched */
	struct {
		struct scope_point point[SCOPE_POINTS];
		uint64_t n; /* points so far: the latest SCOPE_POINTS of them are there */
	} of[SCOPE_KINDS];
};

/* Watches another connection, 0: none; forgets the points of the one before. */
void scope_watch(struct scope *s, uint64_t sock);
/*
 * Add the points of a fact of the connection that is watched. The delay of a send by the kernel's
 * timestamps is its time until it was in the driver.
 */
void scope_add_call(struct scope *s, struct core *c, const struct fact_call *f);
void scope_add_timed_send(struct scope *s, struct core *c, const struct fact_timed_send *f);
void scope_add_range(struct scope *s, struct core *c, const struct fact_range *f);

/* Largest value of sent and received bytes in a column of the picture; NAN: none. */
struct scope_column {
	double most[2];
};
/*
 * Divides the time from `from_ns` to `to_ns` into columns. Returns the largest value of all, 0 if
 * there is none.
 */
double scope_columns(const struct scope *s, enum scope_kind kind, uint64_t from_ns, uint64_t to_ns,
	struct scope_column *column, uint32_t columns);

#endif
