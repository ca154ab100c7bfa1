/* SPDX-License-Identifier: MIT */
/*
 * State from which stream/why.c finds the causes of waits in the send buffer: TCP's windows when
 * last sampled, segments in flight, the labels of bytes handed to IP, and what held the queue over
 * time.
 */
#ifndef MAGNET_CORRELATE_CORE_BYTES_WHY_STATE_H
#define MAGNET_CORRELATE_CORE_BYTES_WHY_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes/held.h"
#include "bytes/ranges.h"

/* Segments handed to IP and not acknowledged. */
struct in_flight {
	uint64_t end; /* offset of the byte after it */
	uint32_t segs;
};

#define FLIGHT_OWN 2

/* The wait divided in time (why_split.c). */
struct split {
	uint64_t asked; /* the cause is known up to here, or none of the known windows held */
	/* time of TCP's last event with windows that have not been evaluated yet; 0 */
	uint64_t due;
	uint64_t since;   /* time since which the first unsent byte is the first */
	uint64_t unsent;  /* its offset */
	uint64_t written; /* offset after the last byte written, or being written */
	uint64_t copied;  /* offset after the last byte that is known to be written */
	/* time until which the congestion window had room, when it was reduced */
	uint64_t cwnd_until;
	bool writing; /* a call is writing: its progress is not known */
	bool sampled; /* the number of segments in flight is TCP's own */
	bool paced;   /* pacing has held it before */
	bool lost;    /* events are missing since the last query */
	uint8_t ca_state;
	uint8_t held_last; /* cause by the last known windows; WHYS = none of them held */
	struct held_time held;
};

#define WHY_LABEL(reason, release) ((uint64_t)(reason) | (uint64_t)(release) << 8)
#define WHY_OF(label)              ((uint8_t)(label))
#define RELEASE_OF(label)          ((uint8_t)((label) >> 8))

/* Causes of waits. Members that most segments need come first, as in struct flow. */
struct why {
	struct ranges label; /* bytes handed to IP; the time is a WHY_LABEL() */
	/* State before TCP processed the peer's last segment: */
	uint64_t una, window_end; /* offsets */
	uint32_t cwnd;            /* segments */
	uint32_t segs_out;        /* in flight, including those sent since */
	bool valid;               /* the four values above were sampled */
	bool arrived;             /* a later segment has arrived, for which TCP has no event */
	/* they are those after it, and nothing has arrived since a call sampled them */
	bool by_call;
	bool by_room;          /* they are those when the last segment was sent before that */
	bool has_room;         /* `room` was sampled since */
	uint8_t nagle;         /* settings of the last writing call, NAGLE_* */
	uint8_t nagle_before;  /* settings of the one before */
	uint32_t last_segs;    /* segments it stands for, until TCP counts them */
	uint32_t mss;          /* 0 not recorded */
	uint64_t tried;        /* time at which TCP tried to send, cycles; 0 not known */
	uint64_t tried_before; /* the same before the peer's last segment */
	/* offset of what was written last with nothing unsent before it */
	uint64_t first_unsent;
	uint64_t small_end; /* end of the last segment that was not full */
	/* segments in flight: a ring. Most flows never have more than two, which need no memory */
	union {
		struct in_flight own[FLIGHT_OWN]; /* cap == 0 */
		struct in_flight *flight;         /* else */
	};
	uint32_t head, len, cap; /* cap is 0 or a power of two */
	struct split split;
	struct { /* windows when the last segment was sent, after one end had closed */
		uint64_t una, window_end;
		uint32_t cwnd, segs_out;
	} room;
};

/* Returns element number `i` of the ring, or where it would be. */
static inline struct in_flight *why_in_flight(struct why *w, uint32_t i)
{
	return w->cap ? &w->flight[(w->head + i) & (w->cap - 1)]
		      : &w->own[(w->head + i) & (FLIGHT_OWN - 1)];
}

/* Frees spare memory if nothing is in flight. */
void why_trim(struct why *w);
void why_free(struct why *w);
/* Adds `by` to all offsets. */
void why_shift(struct why *w, uint64_t by);

#endif
