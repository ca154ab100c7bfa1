/* SPDX-License-Identifier: MIT */
/* Sends whose last segment the kernel timestamps, in the order of their bytes. */
#ifndef MAGNET_CORRELATE_CORE_BYTES_TIMED_SENDS_H
#define MAGNET_CORRELATE_CORE_BYTES_TIMED_SENDS_H

#include <stdbool.h>
#include <stdint.h>

struct timed_send {
	uint32_t end;           /* sequence number behind its last byte */
	uint32_t queued;        /* times that the segment has reached its first device's queue */
	uint32_t ifindex;       /* that device */
	uint64_t sent;          /* when it was in the send buffer, cycles */
	uint64_t queue, driver; /* when the segment first reached these, cycles; 0: not known */
	uint64_t bytes;         /* since the send before that no call has */
	uint32_t gaps;          /* losses of its flow until then */
	bool left;              /* its last byte had left the send buffer by then */
};

/* Sends that are on their way. */
struct timed_sends {
	struct timed_send *send;
	uint32_t head, len, cap;
	bool was_off; /* nothing was recorded of the connection since its last send */
};

/* Adds a send at the end. Returns NULL if memory is short. */
struct timed_send *timed_sends_add(struct timed_sends *t);
/* Return the oldest send and the newest; NULL if there is none. */
struct timed_send *timed_sends_first(struct timed_sends *t);
struct timed_send *timed_sends_last(struct timed_sends *t);
void timed_sends_remove_first(struct timed_sends *t);
/* Returns the send that ends before this sequence number; NULL if it is not there. */
struct timed_send *timed_sends_at(struct timed_sends *t, uint32_t end);
/* Returns whether a sequence number is before another one. */
static inline bool timed_before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}
void timed_sends_free(struct timed_sends *t);

#endif
