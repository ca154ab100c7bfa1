/* SPDX-License-Identifier: MIT */
/* Messages on their way to a program, a ring per socket. */
#ifndef MAGNET_CORRELATE_CORE_MESSAGE_ARRIVAL_H
#define MAGNET_CORRELATE_CORE_MESSAGE_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "events.h"
#include "flow.h"
#include "message/parcel.h"

struct frame;
/* A part as it came: one per fragment, otherwise one for all. */
struct part {
	struct part *next;
	uint32_t off, len; /* position in the message */
	uint64_t dev, ip, xmit;
	struct parcel *from; /* NULL: its sender is not in this recording, or not certain */
	uint32_t from_off;
};

/* A datagram on its way to the program, or a buffer in a UNIX socket's queue. */
struct arrival {
	uint32_t refs;
	uint32_t buffer; /* 0 not known */
	uint64_t off;    /* offset of its first byte in the receiver's stream */
	uint32_t len;    /* LEN_UNKNOWN until its sender's call has ended */
	uint32_t taken;  /* bytes taken by the program, or by arrivals of their own */
	uint16_t ip_id, segs, gso_size;
	int16_t cpu;
	bool is_fragmented, is_gone;
	bool is_early;     /* queued before its socket was accepted; its buffer is not known */
	uint64_t nth;      /* number in its queue */
	struct queues *in; /* its queue */
	/* time in the queue, by its own CPU's event and by another's */
	uint64_t ready, ready_elsewhere;
	struct part part;
	uint32_t parts;
};
#define LEN_UNKNOWN UINT32_MAX

/* Messages of a socket in flight. */
#define ARRIVALS_MAX 65536 /* a power of two */
struct queues {
	struct parcel *corked; /* datagram that is still being added to */
	struct parcel *early;  /* sent to a socket that has not been accepted, in order */
	uint32_t earlies;
	struct frame *uncut;   /* in order */
	uint64_t sent, came;   /* offsets of the next byte */
	bool reported;         /* events report when something is in the receive queue */
	uint64_t pushed;       /* arrivals so far */
	uint64_t arrivals;     /* arrivals that point to the queues, those in `ring` included */
	uint64_t unsure;       /* number of messages whose reader is not certain */
	struct arrival **ring; /* messages on their way in, in order */
	uint32_t head, n, cap; /* cap is a power of two */
	uint32_t required, as_of;
	struct passed {
		uint64_t n, bytes;
	} passed[2][TX_LAYERS]; /* packets of each direction (1: received) that passed each layer */
};

struct core;
struct arrival *arrival_push(struct queues *q, uint32_t buffer, uint32_t len);
struct arrival *arrival_at(const struct queues *q, uint32_t i);
/* Look among the newest, or among those to be read next; return NULL if it is none of these. */
struct arrival *arrival_newest(const struct queues *q, uint32_t buffer);
struct arrival *arrival_next(const struct queues *q, uint32_t buffer);
/* Removes an arrival that has been read or will not be. */
void arrival_gone(struct queues *q, struct arrival *a);
/* Removes those that came before `than`, whose removal was not seen. */
void arrival_drop_older(
	const struct core *c, struct queues *q, const struct arrival *than, uint64_t now);
/* Removes those that have not come to the queue for so long that they never will. */
void arrival_expire(const struct core *c, struct queues *q, uint64_t now);
/* Sets the length, once it is known. */
void arrival_set_length(struct arrival *a, uint32_t len);
/* Returns when it was in the queue, 0 if it is not. */
uint64_t arrival_ready(const struct arrival *a);
struct annotation;
void arrival_annotate(struct annotation *a, const struct arrival *x, uint32_t off, uint32_t len);
struct part *arrival_part(struct arrival *a, uint32_t off, uint32_t len);
struct arrival *arrival_get(struct arrival *a);
void arrival_put(struct arrival *a);

#endif
