/* SPDX-License-Identifier: MIT */
/* What is on its way to a program, a ring a socket. */
#ifndef MAGNET_CORRELATE_CORE_MESSAGE_ARRIVAL_H
#define MAGNET_CORRELATE_CORE_MESSAGE_ARRIVAL_H

#include <stdbool.h>
#include <stdint.h>

#include "events.h"
#include "flow.h"
#include "message/parcel.h"

struct frame;
/* As it came: fragments each, others whole. */
struct part {
	struct part *next;
	uint32_t off, len; /* in what arrived */
	uint64_t dev, ip, xmit;
	struct parcel *from; /* NULL: its sender is not in this recording, or not certain */
	uint32_t from_off;
};

/* A datagram on its way to the program, or a buffer in a UNIX socket's queue. */
struct arrival {
	uint32_t refs;
	uint32_t buffer; /* 0 not known */
	uint64_t off;    /* of its first byte in the receiver's stream */
	uint32_t len;    /* LEN_UNKNOWN until its sender's call has ended */
	uint32_t taken;  /* by the program, or as arrivals of their own */
	uint16_t ip_id, segs, gso_size;
	int16_t cpu;
	bool is_fragmented, is_gone;
	bool is_early;     /* was there before its socket was accepted; its buffer is not known */
	uint64_t nth;      /* of its queue */
	struct queues *in; /* its queue */
	uint64_t ready, ready_elsewhere; /* as its own CPU and another said */
	struct part part;
	uint32_t parts;
};
#define LEN_UNKNOWN UINT32_MAX

/* What a socket has in flight. */
#define ARRIVALS_MAX 65536 /* a power of two */
struct queues {
	struct parcel *corked; /* is still added to */
	struct parcel *early;  /* sent to one that has not been accepted, in order */
	uint32_t earlies;
	struct frame *uncut;   /* in order */
	uint64_t sent, came;   /* offsets of the next byte */
	bool is_told;          /* when something is in the receive queue */
	uint64_t pushed;       /* arrivals so far; */
	uint64_t unsure;       /* of so many it is not certain which reader gets which */
	struct arrival **ring; /* on their way in, in order */
	uint32_t head, n, cap; /* cap is a power of two */
	uint32_t required, as_of;
};

struct core;
struct arrival *arrival_push(struct queues *q, uint32_t buffer, uint32_t len);
struct arrival *arrival_at(const struct queues *q, uint32_t i);
/* Of the newest, or of those to be read soonest; NULL if it is none of these. */
struct arrival *arrival_newest(const struct queues *q, uint32_t buffer);
struct arrival *arrival_next(const struct queues *q, uint32_t buffer);
/* It will not be read, or has been. */
void arrival_gone(struct queues *q, struct arrival *a);
/* What came before it was not seen to go, though it must have. */
void arrival_drop_older(
	const struct core *c, struct queues *q, const struct arrival *than, uint64_t now);
/* Those that have not come to the queue for so long that they never will. */
void arrival_expire(const struct core *c, struct queues *q, uint64_t now);
/* Now it is known. */
void arrival_set_length(struct arrival *a, uint32_t len);
/* When it was in the queue, 0 if it is not. */
uint64_t arrival_ready(const struct arrival *a);
struct annotation;
void arrival_annotate(struct annotation *a, const struct arrival *x, uint32_t off, uint32_t len);
struct part *arrival_part(struct arrival *a, uint32_t off, uint32_t len);
struct arrival *arrival_get(struct arrival *a);
void arrival_put(struct arrival *a);

#endif
