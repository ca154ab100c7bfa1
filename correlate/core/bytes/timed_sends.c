/* SPDX-License-Identifier: MIT */
#include "bytes/timed_sends.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

#define FIRST_ROOM 8

/* Returns whether there is room behind the last send. */
static bool make_room(struct timed_sends *t)
{
	uint32_t cap = t->cap ? t->cap * 2 : FIRST_ROOM;
	struct timed_send *more;

	if (t->head + t->len < t->cap)
		return true;
	if (t->head > t->cap / 2) {
		memmove(t->send, t->send + t->head, t->len * sizeof(*t->send));
		t->head = 0;
		return true;
	}
	more = mg_realloc(t->send, cap * sizeof(*more));
	if (!more)
		return false;
	t->send = more;
	t->cap = cap;
	return true;
}

struct timed_send *timed_sends_add(struct timed_sends *t)
{
	return make_room(t) ? &t->send[t->head + t->len++] : NULL;
}

struct timed_send *timed_sends_first(struct timed_sends *t)
{
	return t->len ? &t->send[t->head] : NULL;
}

struct timed_send *timed_sends_last(struct timed_sends *t)
{
	return t->len ? &t->send[t->head + t->len - 1] : NULL;
}

void timed_sends_remove_first(struct timed_sends *t)
{
	t->head++;
	if (!--t->len)
		t->head = 0;
}

struct timed_send *timed_sends_at(struct timed_sends *t, uint32_t end)
{
	uint32_t low = t->head, high = t->head + t->len;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (timed_before(t->send[middle].end, end))
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->head + t->len && t->send[low].end == end ? &t->send[low] : NULL;
}

void timed_sends_free(struct timed_sends *t)
{
	if (!t)
		return;
	free(t->send);
	free(t);
}
