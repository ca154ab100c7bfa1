/* SPDX-License-Identifier: MIT */
/* Offsets at which the calls in flight end: when its last byte has passed, all of a call has. */
#include "bytes/call_ends.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

/* Makes room for one more. Returns false without memory. */
static bool make_room(struct call_ends *e)
{
	uint32_t cap = e->cap ? e->cap * 2 : 16;
	uint64_t *more = mg_realloc(e->cap ? e->off : NULL, cap * sizeof(*more));

	if (!more)
		return false;
	if (!e->cap)
		more[0] = e->own;
	e->off = more;
	e->cap = cap;
	return true;
}

void call_ends_add(struct call_ends *e, uint64_t off)
{
	uint32_t end = e->head + e->len, i;

	if (e->cap && end == e->cap && e->head > e->cap / 2) {
		memmove(e->off, call_ends_at(e, 0), e->len * sizeof(*e->off));
		e->head = 0;
	} else if (end >= e->cap && end && !make_room(e)) {
		return;
	}
	/* threads may be reported in another order than they wrote */
	for (i = e->len; i > 0 && *call_ends_at(e, i - 1) > off; i--)
		*call_ends_at(e, i) = *call_ends_at(e, i - 1);
	*call_ends_at(e, i) = off;
	e->len++;
}

bool call_ends_take(struct call_ends *e, uint64_t upto)
{
	if (!e->len || *call_ends_at(e, 0) > upto)
		return false;
	e->head = --e->len ? e->head + 1 : 0;
	return true;
}

void call_ends_free(struct call_ends *e)
{
	if (e->cap)
		free(e->off);
}
