/* SPDX-License-Identifier: MIT */
/* Acknowledgements of a flow on their way through this machine. */
#ifndef MAGNET_CORRELATE_CORE_BYTES_ACKS_H
#define MAGNET_CORRELATE_CORE_BYTES_ACKS_H

#include <stdbool.h>
#include <stdint.h>

/* A segment that carries one, with the times that are known of it; 0: not known. */
struct acking {
	uint32_t seq, len, ack;
	uint64_t device, ip;
};

/* Segments of a flow that are followed at a time. */
#define ACKING_MAX 32
struct acking_queue {
	struct acking v[ACKING_MAX];
	uint32_t head, n;
};

struct acks {
	uint32_t to;        /* number that was acknowledged last */
	uint64_t processed; /* when TCP processed the segment before, cycles; 0: none yet */
	struct acking_queue at_device; /* sender: not at IP yet */
	struct acking_queue at_ip;     /* sender: not processed yet; receiver: not at the driver */
};

/* Returns the i-th segment. */
static inline struct acking *acking_at(struct acking_queue *q, uint32_t i)
{
	return &q->v[(q->head + i) % ACKING_MAX];
}

/* Removes the first n segments. An empty queue begins anew, in memory that was just used. */
static inline void acking_drop(struct acking_queue *q, uint32_t n)
{
	q->n -= n;
	q->head = q->n ? (q->head + n) % ACKING_MAX : 0;
}

/* Adds a segment. Where there is no room the oldest one goes. */
static inline void acking_add(struct acking_queue *q, const struct acking *a)
{
	if (q->n == ACKING_MAX)
		acking_drop(q, 1);
	*acking_at(q, q->n++) = *a;
}

#endif
