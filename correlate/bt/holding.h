/* SPDX-License-Identifier: MIT */
/*
 * Messages of a filter that wait, in their order, for a verdict on each event, and what is to come
 * after each.
 */
#ifndef MAGNET_CORRELATE_BT_HOLDING_H
#define MAGNET_CORRELATE_BT_HOLDING_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>

enum verdict { WAITS, PASSES, STAYS };
struct extra {
	const bt_message *message;
	struct extra *next;
};
struct held {
	const bt_message *message; /* NULL: it has been given */
	enum verdict verdict;
	struct extra *extra; /* messages that come after it, the first one first */
};

struct holding {
	struct held *held; /* held[head .. head + n) */
	size_t head, n, cap;
	size_t judged; /* so many of these have a verdict, or there is none to come before them */
	struct extra *fresh, **fresh_end; /* what the event that is being judged gives rise to */
};

/* Takes the message over. False without memory. */
bool holding_put(struct holding *q, const bt_message *m, enum verdict verdict);
/* The next event without a verdict; NULL if there is none. */
struct held *holding_next(struct holding *q);
/* A message that comes after the event that is being judged; NULL does nothing. */
void holding_add(struct holding *q, const bt_message *m);
void holding_attach(struct holding *q, struct held *h);
/* What has been added since comes last; false without memory. */
bool holding_end(struct holding *q);
/* What is judged at the front; how many pass. */
uint64_t holding_give(struct holding *q, bt_message_array_const messages, uint64_t capacity);
void holding_drop(struct holding *q);

#endif
