/* SPDX-License-Identifier: MIT */
/* Frames on their way out, by the buffers they are in. */
#ifndef MAGNET_CORRELATE_CORE_MESSAGE_FRAMES_H
#define MAGNET_CORRELATE_CORE_MESSAGE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "events.h"
#include "flow.h"
#include "message/parcel.h"

/* A datagram, or a fragment or segment of one, on its way out. */
struct frame {
	struct frame *next;          /* in its chain */
	struct frame *older, *newer; /* of all */
	struct frame *next_passed;
	struct frame *next_uncut;
	struct parcel *parcel;
	uint32_t buffer;
	uint32_t what;     /* of ICMP: type and code */
	uint32_t off, len; /* in the parcel */
	uint32_t split;    /* bytes that went on as frames of their own, the last until here; */
	uint32_t cut_to;
	uint32_t lost; /* bytes that were thrown away as it was cut */
	uint16_t ip_id, segs, gso_size;
	bool is_piece; /* of a larger one */
	bool is_uncut; /* stands for several that may yet leave as frames each */
	bool is_known; /* by its buffer */
	bool is_done;  /* its bytes have their atoms */
	bool waits;    /* for its calls */
	bool landed;   /* a receiver has it */
	bool dropped;  /* or a copy of it */
	uint32_t present;
	uint64_t t[TX_LAYERS];
};

/* What several sockets may get: whose it is shows as it is queued. */
struct unclaimed {
	struct mg_packet packet;
	uint64_t dev, ip;
	int16_t cpu;
};
#define UNCLAIMED_PACKETS 64 /* a power of two */

/* Frames by their buffers: a new one at the same address is the end of the older. */
#define FRAME_CHAINS 4096 /* a power of two */
#define FRAMES_MAX   16384
struct frames {
	struct frame *chain[FRAME_CHAINS];
	struct frame *oldest, *newest;
	uint32_t n;
	struct unclaimed unclaimed[UNCLAIMED_PACKETS];
	uint32_t unclaimed_n;
};

struct core;
struct queues;
struct frames *frames_of(struct core *c);
struct frame *frame_add(struct core *c, struct parcel *p, uint32_t buffer);
struct frame *frame_find(const struct core *c, uint32_t buffer, const struct flow *f);
/* No packet is known by its buffer any more; it is freed unless its parcel waits for it. */
void frame_forget(struct core *c, struct frame *f);
/* It stands for several; it has left as it is, or as all of them. */
void frame_is_uncut(struct queues *q, struct frame *f);
void frame_is_over(struct frame *f);
void frames_free(struct core *c);

#endif
