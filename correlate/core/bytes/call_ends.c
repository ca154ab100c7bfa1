/* SPDX-License-Identifier: MIT */
/* Offsets at which the calls in flight end: when its last byte has passed, all of a call has. */
#include "bytes/call_ends.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

void call_ends_add(struct call_ends *e, uint64_t off)
{
	uint32_t i;

	if (e->head + e->len == e->cap && e->head > e->cap / 2) {
		memmove(e->off, e->off + e->head, e->len * sizeof(*e->off));
		e->head = 0;
	} else if (e->head + e->len == e->cap) {
		uint32_t cap = e->cap ? e->cap * 2 : 16;
		uint64_t *more = mg_realloc(e->off, cap * sizeof(*more));

		if (!more)
			return;
		e->off = more;
		e->cap = cap;
	}
	/* threads may be reported in another order than they wrote */
	for (i = e->head + e->len; i > e->head && e->off[i - 1] > off; i--)
		e->off[i] = e->off[i - 1];
	e->off[i] = off;
	e->len++;
}

bool call_ends_take(struct call_ends *e, uint64_t upto)
{
	if (!e->len || e->off[e->head] > upto)
		return false;
	e->head = --e->len ? e->head + 1 : 0;
	return true;
}
