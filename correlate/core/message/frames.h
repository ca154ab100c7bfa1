/* SPDX-License-Identifier: MIT */
/* Frames on their way out, by their buffers. */
#ifndef MAGNET_CORRELATE_CORE_MESSAGE_FRAMES_H
#define MAGNET_CORRELATE_CORE_MESSAGE_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "events.h"
#include "flow.h"
#include "message/parcel.h"

/* A datagram, or a fragment or segment of one, on its way out. */
struct frame {
	struct frame *next;          /* next in its chain */
	struct frame *older, *newer; /* neighbours in the list of all */
	struct frame *next_passed;
	struct frame *next_uncut;
	struct parcel *parcel;
	uint32_t buffer;
	uint32_t off, len; /* position in the message */
	uint32_t split;    /* bytes that continue as frames of their own, up to this offset */
	uint32_t cut_to;
	uint32_t lost; /* bytes dropped while it was cut */
	uint16_t ip_id, segs, gso_size;
	uint8_t icmp_type;
	bool is_piece; /* part of a larger one */
	bool is_uncut; /* stands for several that may yet leave as single frames */
	bool is_known; /* found by its buffer */
	bool is_done;  /* its bytes have their byte ranges */
	bool waits;    /* waits for its calls */
	bool landed;   /* received */
	bool dropped;  /* dropped, or a copy of it was */
	uint32_t present;
	uint64_t t[TX_LAYERS];
};

/* A packet that several sockets may get: its owner is known when it is queued. */
struct unclaimed {
	struct mg_packet packet;
	uint64_t dev, ip;
	int16_t cpu;
};
#define UNCLAIMED_PACKETS 64 /* a power of two */

/* Frames by their buffers: a new one at the same address ends the older one. */
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
/* Removes a frame from the look-up by buffer; frees it unless its message waits for it. */
void frame_forget(struct core *c, struct frame *f);
/* Call them when a frame stands for several, and when it has left as one or as all of them. */
void frame_is_uncut(struct queues *q, struct frame *f);
void frame_is_over(struct frame *f);
void frames_free(struct core *c);

#endif
