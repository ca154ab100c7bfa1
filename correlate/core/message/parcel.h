/* SPDX-License-Identifier: MIT */
/* Messages as calls handed them to a socket without sequence numbers. */
#ifndef MAGNET_CORRELATE_CORE_MESSAGE_PARCEL_H
#define MAGNET_CORRELATE_CORE_MESSAGE_PARCEL_H

#include <stdbool.h>
#include <stdint.h>

#include "events.h"
#include "flow.h"

/* Part of a message that one call brought. */
struct slice {
	struct slice *next;
	uint32_t off, len;   /* position in the message */
	uint64_t copy, call; /* C and U0 */
	uint64_t exit;       /* K1, which identifies the call */
	bool ends_call;      /* the call's bytes end with it */
};

/* Part of a message that a receiver's call took before the sender's calls were known. */
struct reading {
	struct reading *next;
	struct flow *rx;
	uint32_t off, len;
	uint64_t user; /* U1 */
	uint64_t exit; /* K1, which identifies the call */
};

/* A datagram as its socket sent it, or a buffer of a UNIX socket. */
struct parcel {
	uint32_t refs;
	uint32_t len;
	uint32_t settled; /* bytes whose calls are known */
	uint32_t dropped; /* bytes dropped before they left */
	uint64_t off;     /* offset of its first byte in the sender's stream */
	struct flow *flow;
	struct slice *slices, first;
	struct frame *passed;    /* frames at the driver before its calls were known */
	struct reading *reading; /* readings before its calls were known */
	uint64_t handed;         /* UNIX: time it was in the peer's queue */
	uint32_t buffer;         /* UNIX: buffer it is in, before accept(); 0 not known */
	bool sent;               /* nothing more is added to it */
	struct parcel *later;    /* next one that waits for accept() */
};

struct frame;
struct queues;
struct queues *queues_of(struct mg_sock *s);
/* Drops the messages in them. */
void queues_empty(struct queues *q);
void queues_free(struct queues *q);
/* Counts a packet that passed a layer of a socket without sequence numbers. */
void queues_count(struct flow *f, int layer, uint64_t bytes);
struct parcel *parcel_new(struct flow *f, uint64_t off, uint32_t len);
struct parcel *parcel_get(struct parcel *p);
void parcel_put(struct parcel *p);
/* Call it when the call (U0) that brought bytes of it is known. */
struct core;
void parcel_settle(struct core *c, struct parcel *p, const struct slice *s);
/* Call it when it has reached the driver, or the peer's queue. */
void parcel_passed(struct core *c, struct frame *f);
/* Call it when a receiver has got bytes of it. */
void parcel_read(const struct core *c, struct parcel *p, const struct reading *r);

#endif
