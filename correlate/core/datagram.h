/* SPDX-License-Identifier: MIT */
/*
 * What moves through sockets whose bytes have no numbers: what the program's calls handed over,
 * what of it travels, and what lies in a receive queue. All of it only while it is in flight.
 */
#ifndef MAGNET_CORRELATE_DATAGRAM_H
#define MAGNET_CORRELATE_DATAGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "events.h"
#include "flow.h"

/* What one call brought of a parcel. */
struct slice {
	struct slice *next;
	uint32_t off, len;   /* in the parcel */
	uint64_t copy, call; /* C and U0 */
	bool ends_call;      /* with it the call's bytes end */
};

/* What a receiver's call took of a parcel before its sender's calls were known. */
struct reading {
	struct reading *next;
	struct flow *rx;
	uint32_t off, len;
	uint64_t user; /* U1 */
};

/* A datagram as its socket sent it, or a buffer of a UNIX socket. */
struct parcel {
	uint32_t refs;
	uint32_t len;
	uint32_t settled; /* bytes whose calls are known */
	uint32_t dropped; /* bytes the kernel threw away before they left */
	uint64_t off;     /* of its first byte in the sender's stream */
	struct flow *flow;
	struct slice *slices, first;
	struct frame *passed;    /* at the driver before its calls were known */
	struct reading *reading; /* likewise */
	uint64_t handed;         /* UNIX: when it was in the peer's queue */
	uint32_t buffer;         /* UNIX: what it lies in, before accept(); 0 not known */
	bool sent;               /* nothing more is added to it */
	struct parcel *later;    /* of those that wait for accept() */
};

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

/* parcel.c */
struct queues *queues_of(struct mg_sock *s);
void queues_free(struct queues *q);
struct parcel *parcel_new(struct flow *f, uint64_t off, uint32_t len);
struct parcel *parcel_get(struct parcel *p);
void parcel_put(struct parcel *p);
/* The call that brought bytes of it is known: U0. */
struct core;
void parcel_settle(struct core *c, struct parcel *p, const struct slice *s);
/* It has reached the driver, or the peer's queue. */
void parcel_passed(struct core *c, struct frame *f);
/* A receiver has got bytes of it. */
void parcel_read(struct parcel *p, const struct reading *r);

/* frames.c */
struct frames *frames_of(struct core *c);
struct frame *frame_add(struct core *c, struct parcel *p, uint32_t buffer);
struct frame *frame_find(const struct core *c, uint32_t buffer, const struct flow *f);
/* No packet is known by its buffer any more; it is freed unless its parcel waits for it. */
void frame_forget(struct core *c, struct frame *f);
/* It stands for several; it has left as it is, or as all of them. */
void frame_is_uncut(struct queues *q, struct frame *f);
void frame_is_over(struct frame *f);
void frames_free(struct core *c);

/* arrival.c */
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
