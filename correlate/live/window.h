/* SPDX-License-Identifier: MIT */
/*
 * Connections over a sliding window, from facts as they come (method, "Live view"). A window is
 * made of slots, one for each interval. A fact counts in the slot in which it is established, so
 * the slots of all intervals add up to what a report of the whole recording says.
 */
#ifndef MAGNET_CORRELATE_LIVE_WINDOW_H
#define MAGNET_CORRELATE_LIVE_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/contract.h"
#include "hash.h"
#include "live/scope.h"
#include "sums/dist.h"

#define LIVE_SLOTS 32 /* intervals that a window may have, and the one that is being filled */
/* Connections that are kept; while there are more, those that were idle the longest are left out.
 */
#define LIVE_CONNECTIONS 5000

/* Sums of a connection in one interval, or in several. Index 0: sent, 1: received. */
struct live_sums {
	uint64_t bytes[2], calls[2];
	uint64_t retransmits;           /* segments */
	uint64_t exchanges;             /* answered */
	uint64_t drops;                 /* segments or datagrams that the kernel dropped */
	uint64_t first_call, last_call; /* begin of calls that sent, cycles; 0: none */
	double stage[STAGES_BOTH];      /* cycles times bytes */
	struct dist to_reply;           /* cycles */
	struct dist shift;              /* from the call to the driver, cycles, by bytes: of M */
};

struct live_connection {
	uint64_t sock;
	struct live_sums *slot[LIVE_SLOTS];        /* by interval; NULL: nothing happened in it */
	uint64_t bytes[2], retransmits, exchanges; /* since the recording began */
	uint64_t srtt_us, cwnd;                    /* FACT_NONE: not known */
	uint64_t active;                           /* interval of its last fact */
	UT_hash_handle hh;
};

/* Number and time of an interval. */
struct live_interval {
	uint64_t number, from_ns, to_ns; /* CLOCK_MONOTONIC */
};

struct live {
	struct core *core;
	struct live_connection *connections; /* a hash table, the longest idle first */
	struct live_interval interval[LIVE_SLOTS];
	uint64_t now;           /* number of the interval that is being filled, from 1 on */
	uint64_t left_out;      /* connections that were idle, and gave room to others */
	struct live_sums total; /* of all connections in the interval that ended last; no times */
	struct live_sums filling;
	struct scope scope;
};

/* Registers for facts of the core, before the first event. Returns false without memory. */
bool live_listen(struct live *l, struct core *c);
/* Ends the present interval at a time, and begins the next. */
void live_turn(struct live *l, uint64_t to_ns);
/* Returns the interval that ended last. */
const struct live_interval *live_ended(const struct live *l);
/* Returns the time that the last `slots` ended intervals took, ns. */
uint64_t live_span_ns(const struct live *l, uint32_t slots);
/* Adds up the last `slots` ended intervals. The caller frees it by live_sums_free(). */
void live_sum(const struct live *l, const struct live_connection *c, uint32_t slots,
	struct live_sums *sum);
void live_sums_free(struct live_sums *s);
void live_free(struct live *l);

/* ---- figures of sums; NAN: not known ---- */

/* Returns a percentile of the time to the reply, ns; it needs ten exchanges beyond it. */
double live_reply_ns(const struct live *l, const struct live_sums *s, double quantile);
/*
 * Returns the largest percentile that holds, as dist_highest() does, and fills in the time to the
 * reply there, ns; NAN without an exchange.
 */
double live_reply_highest(const struct live *l, const struct live_sums *s, double *ns);
/* Returns the modulation M of the sent bytes. */
double live_modulation(const struct live_sums *s);
/* Returns the stage in which bytes spent most time, and its share; -1: not known. */
int live_stage(const struct live_sums *s, double *share);
/* Return the name of a stage, and the words for it. */
const char *live_stage_name(int stage);
const char *live_stage_label(int stage);

#endif
