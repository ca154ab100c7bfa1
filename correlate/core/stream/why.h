/* SPDX-License-Identifier: MIT */
/*
 * Why sent bytes waited in the send buffer, and what let them go (method, "Residence"): two labels
 * a byte, found as it is first handed to IP, and its wait divided by what held the queue it was in.
 */
#ifndef MAGNET_CORRELATE_WHY_H
#define MAGNET_CORRELATE_WHY_H

#include <stdbool.h>
#include <stdint.h>

#include "socket/held.h"
#include "stream/ranges.h"
#include "facts/why_reasons.h"

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

/* The wait divided in time (why_split.c). */
struct split {
	struct held_time held;
	uint64_t asked;      /* what held is told up to here, or nothing of what was told did */
	uint64_t due;        /* TCP told its windows then, and they have not been compared yet; 0 */
	uint64_t since;      /* the first unsent byte is the first since then */
	uint64_t unsent;     /* its offset */
	uint64_t written;    /* the offset after the last byte written, or that is being written */
	uint64_t cwnd_until; /* the congestion window had room until then, when it was reduced */
	bool writing;        /* a call is: how far it has got is not told */
	bool sampled;        /* the segments in flight are TCP's own number */
	bool paced;          /* pacing has held it before */
	bool lost;           /* events are missing since it was asked last */
	uint8_t ca_state;
	uint8_t held_last; /* by what was told last; WHYS = by nothing of it */
	/* of bytes that are through: */
	unsigned __int128 wait[WHYS]; /* cycles times bytes */
	uint64_t bytes[WHYS];         /* that waited for it at all */
	uint64_t cycles[WHYS];        /* the queue was held */
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
	uint32_t last_segs;       /* that it stands for, until TCP counts them */
	uint32_t mss;             /* 0 not told */
	uint64_t tried;           /* TCP tried to send at that time, cycles; 0 not known */
	uint64_t tried_before;    /* and before the last segment of the peer's */
	uint64_t first_unsent;    /* what was written last with nothing unsent before it */
	uint64_t small_end;       /* where the last segment that was not full ends */
	uint8_t nagle;            /* what the last call that wrote had set, NAGLE_* */
	uint8_t nagle_before;     /* and the one before */
	struct in_flight *flight; /* a ring, a power of two */
	uint32_t head, len, cap;
	struct why_row *row;
	uint32_t rows;
	struct split split;
};

struct core;
struct flow;
struct mg_packet;
struct mg_sock;
struct mg_tcp_recv;
struct mg_tcp_room;
struct mg_tcp_send;
struct mg_tcp_state;
struct thread;

/* A call is about to copy bytes, TCP to process a segment of the peer's; and TCP's state then. */
void why_on_write(struct flow *tx, struct thread *t, const struct mg_tcp_send *p, uint64_t now);
void why_on_segment(struct mg_sock *s, struct thread *t, const struct mg_tcp_recv *p, uint64_t now);
/* The call that wrote has returned, and TCP gives the next byte this number. */
void why_on_written(struct flow *tx, uint32_t seq);
/* Events of state: of the event before them, but for a change of the congestion state. */
void why_on_state(struct flow *tx, const struct mg_tcp_state *p);
/* The same after one end has closed, as a segment is sent; and a segment of the peer's arrives. */
void why_on_room(struct core *c, const struct mg_tcp_room *p);
void why_on_arrival(struct mg_sock *s, struct thread *t, uint64_t now);
/* TCP hands a segment to IP, its first byte at `off`; `t` is the thread it happened on. */
void why_on_out(struct core *c, const struct thread *t, struct mg_sock *s,
	const struct mg_packet *p, uint64_t off, uint64_t now);
/* Note that bytes waited from the one time to the other, and their label, if it is known. */
void why_waited(
	struct flow *tx, bool known, uint64_t label, uint64_t from, uint64_t to, uint64_t bytes);
/* Adds the time in each reason between the two to `by`, after why_waited() with the same times. */
void why_times(const struct flow *tx, uint64_t from, uint64_t to, uint64_t by[WHYS]);
/* Without anything in flight it keeps no room for it. */
void why_trim(struct why *w);
void why_free(struct why *w);
/* All its bytes are numbered `by` higher. */
void why_shift(struct why *w, uint64_t by);

#endif
