/* SPDX-License-Identifier: MIT */
/*
 * A filter's messages that wait, in order, for a verdict on each event, and the derived messages to
 * emit after each.
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
	const bt_message *message; /* NULL: already emitted */
	enum verdict verdict;
	struct extra *extra; /* messages to emit after it, in order */
};

struct holding {
	struct held *held; /* held[head .. head + n) */
	size_t head, n, cap;
	size_t judged; /* number of messages from the head on that have a verdict or need none */
	struct extra *fresh, **fresh_end; /* messages derived from the event that is being judged */
};

/* Takes over a message. Returns false if memory is short. */
bool holding_put(struct holding *q, const bt_message *m, enum verdict verdict);
/* Returns the next event without a verdict; NULL if there is none. */
struct held *holding_next(struct holding *q);
/*
 * holding_add() adds a message derived from the event that is being judged and ignores NULL;
 * holding_attach() emits the added ones after `h`.
 */
void holding_add(struct holding *q, const bt_message *m);
void holding_attach(struct holding *q, struct held *h);
/* Emits the messages added since after all others. Returns false if memory is short. */
bool holding_end(struct holding *q);
/* Emits judged messages from the front. Returns how many pass. */
uint64_t holding_give(struct holding *q, bt_message_array_const messages, uint64_t capacity);
void holding_drop(struct holding *q);

#endif
