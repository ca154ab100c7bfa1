/* SPDX-License-Identifier: MIT */

#include "clock/queue.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

#define QUEUE_LEAST (64u * 1024)

/* Size of an event with its payload only. */
#define SIZE_OF(id, name, NAME, ...) [id] = QUEUE_ROUNDED(QUEUE_HEAD + MG_PAYLOAD_SIZE(NAME)),
const unsigned char queue_sizes[256] = {
	[0 ... MG_APP_BASE - 1] = sizeof(struct mg_event),
	[MG_APP_BASE... 255] = QUEUE_ROUNDED(QUEUE_HEAD + MG_PAYLOAD_SIZE(CALL)),
	MG_KERNEL_EVENTS(SIZE_OF)[MG_EVENT_mark] =
		QUEUE_ROUNDED(QUEUE_HEAD + MG_PAYLOAD_SIZE(MARK)),
	[MG_EVENT_other] = QUEUE_ROUNDED(QUEUE_HEAD + sizeof(struct mg_other)),
};
_Static_assert(sizeof(struct mg_event) < 256, "an event's size is a byte");

/* Makes room so that a whole event fits at the end, however short the last one is. */
bool queue_make_room(struct event_queue *q)
{
	size_t used = q->tail - q->head, cap = q->cap ? q->cap * 2 : QUEUE_LEAST;
	unsigned char *more;

	if (q->head <= q->cap / 2) { /* otherwise there is room enough before the first */
		more = mg_realloc(q->bytes, cap);
		if (!more)
			return false;
		q->bytes = more;
		q->cap = cap;
	}
	memmove(q->bytes, q->bytes + q->head, used);
	q->head = 0;
	q->tail = used;
	return true;
}

void queue_free(struct event_queue *q)
{
	free(q->bytes);
	memset(q, 0, sizeof(*q));
}
