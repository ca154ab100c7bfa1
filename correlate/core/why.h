/* SPDX-License-Identifier: MIT */
/*
 * Why sent bytes waited in the send buffer, and what let them go (method, "Residence"): two labels
 * a byte, found as it is first handed to IP.
 */
#ifndef MAGNET_CORRELATE_WHY_H
#define MAGNET_CORRELATE_WHY_H

#include <stdbool.h>
#include <stdint.h>

#include "ranges.h"

/* clang-format off */
#define MG_WHY_REASONS(X) \
	X(NOT_KNOWN, "not_known", "not known why") \
	X(IMMEDIATE, "immediate", "sent at once") \
	X(WINDOW,    "window",    "the peer's window") \
	X(CWND,      "cwnd",      "congestion window") \
	X(NAGLE,     "nagle",     "Nagle's algorithm") \
	X(CORK,      "cork",      "corked by the program") \
	X(AUTOCORK,  "autocork",  "autocorking") \
	X(TSQ,       "tsq",       "TCP small queues") \
	X(PACING,    "pacing",    "pacing")
#define MG_WHY_RELEASES(X) \
	X(NOT_KNOWN,  "not_known",     "") \
	X(OWN_CALL,   "own_call",      "") \
	X(LATER_CALL, "later_call",    "until a later call") \
	X(ACK,        "ack",           "until an ACK") \
	X(TX_DONE,    "tx_completion", "until the device was done with others") \
	X(PACER,      "pacing_timer",  "") \
	X(TIMER,      "timer",         "until a timer of TCP's")
/* clang-format on */
#define MG_WHY_ID(ID, name, label)     WHY_##ID,
#define MG_RELEASE_ID(ID, name, label) RELEASE_##ID,
enum why_reason { MG_WHY_REASONS(MG_WHY_ID) WHYS };
enum why_release { MG_WHY_RELEASES(MG_RELEASE_ID) RELEASES };

/* Bytes that share both labels. */
struct why_row {
	uint8_t reason, release;
	uint64_t n, bytes;
	unsigned __int128 wait; /* cycles times bytes */
};

/* Segments handed to IP and not acknowledged. */
struct in_flight {
	uint64_t end; /* offset of the byte after it */
	uint32_t segs;
};

#define WHY_LABEL(reason, release) ((uint64_t)(reason) | (uint64_t)(release) << 8)
#define WHY_OF(label)              ((uint8_t)(label))
#define RELEASE_OF(label)          ((uint8_t)((label) >> 8))

struct why {
	struct ranges label; /* of bytes handed to IP; the time is a WHY_LABEL() */
	/* As told before TCP processed the last segment of the peer's: */
	uint64_t una, window_end; /* offsets */
	uint32_t cwnd;            /* segments */
	uint32_t segs_out;        /* in flight, those sent since included */
	bool told;                /* these are */
	bool arrived;             /* a later segment has, of which TCP has not told */
	bool by_call; /* they are those after it, and nothing has arrived since a call told */
	bool by_room; /* as they were when the last segment was sent before that */
	struct {
		uint64_t una, window_end;
		uint32_t cwnd, segs_out;
		bool told;
	} room;                   /* as the last segment was sent, after one end had closed */
	uint32_t last_segs;       /* that it stands for */
	uint32_t mss;             /* 0 not told */
	uint64_t first_unsent;    /* what was written last with nothing unsent before it */
	uint64_t small_end;       /* where the last segment that was not full ends */
	uint8_t nagle;            /* what the last call that wrote had set, NAGLE_* */
	uint8_t nagle_before;     /* and the one before */
	struct in_flight *flight; /* a ring, a power of two */
	uint32_t head, len, cap;
	struct why_row *row;
	uint32_t rows;
};

#endif
