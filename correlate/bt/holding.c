/* SPDX-License-Identifier: MIT */
#include "holding.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

struct held *holding_next(struct holding *q)
{
	while (q->judged < q->n && q->held[q->head + q->judged].verdict != WAITS)
		q->judged++;
	return q->judged < q->n ? &q->held[q->head + q->judged] : NULL;
}

void holding_add(struct holding *q, const bt_message *m)
{
	struct extra *x = m ? mg_calloc(1, sizeof(*x)) : NULL;

	if (!x) {
		bt_message_put_ref(m);
		return;
	}
	x->message = m;
	*q->fresh_end = x;
	q->fresh_end = &x->next;
}

bool holding_put(struct holding *q, const bt_message *m, enum verdict verdict)
{
	if (q->head && q->head + q->n == q->cap) {
		memmove(q->held, q->held + q->head, q->n * sizeof(*q->held));
		q->head = 0;
	}
	if (q->n == q->cap) {
		size_t cap = q->cap ? q->cap * 2 : 256;
		struct held *more = mg_realloc(q->held, cap * sizeof(*more));

		if (!more) {
			bt_message_put_ref(m);
			return false;
		}
		q->held = more;
		q->cap = cap;
	}
	q->held[q->head + q->n++] = (struct held){m, verdict, NULL};
	return true;
}

static void drop_extra(struct extra *x)
{
	while (x) {
		struct extra *following = x->next;

		bt_message_put_ref(x->message);
		free(x);
		x = following;
	}
}

void holding_drop(struct holding *q)
{
	for (size_t i = 0; i < q->n; i++) {
		bt_message_put_ref(q->held[q->head + i].message);
		drop_extra(q->held[q->head + i].extra);
	}
	drop_extra(q->fresh);
	q->fresh = NULL;
	q->fresh_end = &q->fresh;
	q->head = q->n = q->judged = 0;
}

uint64_t holding_give(struct holding *q, bt_message_array_const messages, uint64_t capacity)
{
	uint64_t count = 0;

	while (q->n && count < capacity && q->held[q->head].verdict != WAITS) {
		struct held *h = &q->held[q->head];
		struct extra *x = h->extra;

		if (h->message && h->verdict == PASSES) {
			messages[count++] = h->message;
			h->message = NULL;
			continue;
		}
		if (x) {
			messages[count++] = x->message;
			h->extra = x->next;
			free(x);
			continue;
		}
		bt_message_put_ref(h->message);
		q->head++;
		q->n--;
		q->judged -= q->judged > 0;
	}
	return count;
}

void holding_attach(struct holding *q, struct held *h)
{
	h->extra = q->fresh;
	q->fresh = NULL;
	q->fresh_end = &q->fresh;
}

bool holding_end(struct holding *q)
{
	if (!q->fresh)
		return true;
	if (!holding_put(q, NULL, PASSES))
		return false;
	holding_attach(q, &q->held[q->head + q->n - 1]);
	return true;
}
