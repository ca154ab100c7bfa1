/* SPDX-License-Identifier: MIT */
/*
 * Events in a row, first in, first out, each with as much of it as its payload has: a tenth of a
 * second of them waits for the clock, and the less that is the sooner it has been there and back.
 */
#ifndef MAGNET_CORRELATE_QUEUE_H
#define MAGNET_CORRELATE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "event.h"

struct event_queue {
	unsigned char *bytes;
	size_t head, tail, cap;
};

static inline bool queue_is_empty(const struct event_queue *q)
{
	return q->head == q->tail;
}
/* 0 or -ENOMEM. */
int queue_put(struct event_queue *q, const struct mg_event *e);
/* The first one, and the one after another of the queue; NULL if there is none. */
struct mg_event *queue_first(const struct event_queue *q);
struct mg_event *queue_after(const struct event_queue *q, const struct mg_event *e);
void queue_drop_first(struct event_queue *q);
void queue_free(struct event_queue *q);

#endif
