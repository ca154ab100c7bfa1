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

/* Stages of bytes that are followed, and behind them those of sends by the kernel's timestamps. */
#define LIVE_STAGES (STAGES_BOTH + TIMED_STAGES)

/*
 * Counts of a connection, or of all. Index 0: sent, 1: received. FACT_NONE: not recorded, where
 * they are given out.
 */
struct live_counts {
	uint64_t bytes[2], calls[2];
	uint64_t retransmits; /* segments */
	uint64_t exchanges;   /* answered */
	uint64_t drops;       /* segments or datagrams that the kernel dropped */
};

/* Sums of a connection in one interval, or in several. */
struct live_sums {
	struct live_counts n;
	uint64_t first_call, last_call; /* begin of calls that sent, cycles; 0: none */
	double stage[LIVE_STAGES];      /* cycles times bytes; by timestamps: cycles */
	struct dist to_reply;           /* cycles */
	struct dist to_ack;             /* of sends by the kernel's timestamps, at most, cycles */
	struct dist shift;              /* from the call to the driver, cycles, by bytes: of M */
};

struct live_connection {
	uint64_t sock;
	struct live_sums *slot[LIVE_SLOTS]; /* by interval; NULL: nothing happened in it */
	struct live_counts whole;           /* since the recording began */
	uint64_t srtt_us, cwnd;             /* FACT_NONE: not known */
	uint64_t active;                    /* interval of its last fact */
	UT_hash_handle hh;
};

/* Which counts are recorded, at least for a part of a time. */
struct live_tells {
	bool calls, timed_sends, retransmits, drops;
};

/* Number and time of an interval. */
struct live_interval {
	uint64_t number, from_ns, to_ns; /* CLOCK_MONOTONIC */
	struct live_tells tells;
};

struct live {
	struct core *core;
	struct live_connection *connections; /* a hash table, the longest idle first */
	struct live_interval interval[LIVE_SLOTS];
	uint64_t now;             /* number of the interval that is being filled, from 1 on */
	uint64_t left_out;        /* connections that were idle, and gave room to others */
	struct live_counts total; /* of all connections in the interval that ended last */
	struct live_counts filling;
	struct live_tells since_last, ever; /* since the present interval began; in any */
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
/* Returns the counts of a connection since the recording began. */
struct live_counts live_whole(const struct live *l, const struct live_connection *c);
void live_free(struct live *l);

#endif
