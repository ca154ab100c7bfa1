/* SPDX-License-Identifier: MIT */
/*
 * A first-in first-out queue of events, each with only as many bytes as its payload has: a tenth of
 * a second of events waits for the clock, and the smaller the queue the better it stays in the
 * cache.
 */
#ifndef MAGNET_CORRELATE_QUEUE_H
#define MAGNET_CORRELATE_QUEUE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "event.h"

struct event_queue {
	unsigned char *bytes;
	size_t head, tail, cap;
};

static inline bool queue_is_empty(const struct event_queue *q)
{
	return q->head == q->tail;
}

#define QUEUE_HEAD       offsetof(struct mg_event, sys_enter)
#define QUEUE_ROUNDED(n) (((n) + 7) & ~(size_t)7)
extern const unsigned char queue_sizes[256]; /* sizes of events by id */

static inline size_t queue_size_of(const struct mg_event *e)
{
	return e->id < sizeof(queue_sizes) ? queue_sizes[e->id] : sizeof(*e);
}

/* Makes room for any event at the end. Returns false if memory is short. */
bool queue_make_room(struct event_queue *q);

/* Returns the event that is written, or was, at the end. */
static inline struct mg_event *queue_written(const struct event_queue *q)
{
	return (struct mg_event *)(void *)(q->bytes + q->tail);
}
/* Returns where to write the next event; NULL if memory is short. */
static inline struct mg_event *queue_room(struct event_queue *q)
{
	if (queue_is_empty(q))
		q->head = q->tail = 0;
	if (q->cap - q->tail < 2 * sizeof(struct mg_event) && !queue_make_room(q))
		return NULL;
	return queue_written(q);
}
/* Appends the event written there. */
static inline void queue_put(struct event_queue *q, struct mg_event *e)
{
	e->queued = (uint32_t)queue_size_of(e);
	q->tail += e->queued;
}

static inline struct mg_event *queue_at(const struct event_queue *q, size_t offset)
{
	return offset < q->tail ? (struct mg_event *)(void *)(q->bytes + offset) : NULL;
}
/* Return the first event, and the one after another; NULL if there is none. */
static inline struct mg_event *queue_first(const struct event_queue *q)
{
	return queue_at(q, q->head);
}
static inline struct mg_event *queue_after(const struct event_queue *q, const struct mg_event *e)
{
	return queue_at(q, (size_t)((const unsigned char *)e - q->bytes) + e->queued);
}
/* Drops the first event, `e`. */
static inline void queue_drop_first(struct event_queue *q, const struct mg_event *e)
{
	q->head += e->queued;
}
void queue_free(struct event_queue *q);

#endif
