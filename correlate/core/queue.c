/* SPDX-License-Identifier: MIT */
#include "queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEAD        offsetof(struct mg_event, sys_enter)
#define ROUNDED(n)  (((n) + 7) & ~(size_t)7)
#define QUEUE_LEAST (64u * 1024)

/* Bytes of an event with what it has of a payload. */
#define SIZE_OF(id, name, NAME, layer, doc) [id] = ROUNDED(HEAD + MG_PAYLOAD_SIZE(NAME)),
static const unsigned char sizes[256] = {
	MG_KERNEL_EVENTS(SIZE_OF)[MG_EVENT_mark] = ROUNDED(HEAD + MG_PAYLOAD_SIZE(MARK)),
	[MG_EVENT_other] = ROUNDED(HEAD + sizeof(struct mg_other)),
};
_Static_assert(sizeof(struct mg_event) < 256, "an event's size is a byte");

static size_t size_of(const struct mg_event *e)
{
	if (e->id < sizeof(sizes) && sizes[e->id])
		return sizes[e->id];
	return MG_IS_CALL(e->id) ? ROUNDED(HEAD + MG_PAYLOAD_SIZE(CALL)) : sizeof(*e);
}

/* At the end there is always room for all of an event, however short the last one is. */
static bool make_room(struct event_queue *q)
{
	size_t used = q->tail - q->head, cap = q->cap ? q->cap * 2 : QUEUE_LEAST;
	unsigned char *more;

	if (q->head > q->cap / 2) {
		memmove(q->bytes, q->bytes + q->head, used);
	} else {
		more = malloc(cap);
		if (!more)
			return false;
		if (used)
			memcpy(more, q->bytes + q->head, used);
		free(q->bytes);
		q->bytes = more;
		q->cap = cap;
	}
	q->head = 0;
	q->tail = used;
	return true;
}

int queue_put(struct event_queue *q, const struct mg_event *e)
{
	size_t size = size_of(e);

	if (queue_is_empty(q))
		q->head = q->tail = 0;
	if (q->cap - q->tail < 2 * sizeof(*e) && !make_room(q))
		return -ENOMEM;
	memcpy(q->bytes + q->tail, e, size);
	q->tail += size;
	return 0;
}

static struct mg_event *at(const struct event_queue *q, size_t offset)
{
	return offset < q->tail ? (struct mg_event *)(void *)(q->bytes + offset) : NULL;
}

struct mg_event *queue_first(const struct event_queue *q)
{
	return at(q, q->head);
}

struct mg_event *queue_after(const struct event_queue *q, const struct mg_event *e)
{
	return at(q, (size_t)((const unsigned char *)e - q->bytes) + size_of(e));
}

void queue_drop_first(struct event_queue *q)
{
	q->head += size_of(queue_first(q));
}

void queue_free(struct event_queue *q)
{
	free(q->bytes);
	memset(q, 0, sizeof(*q));
}
