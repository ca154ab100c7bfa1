/* SPDX-License-Identifier: MIT */
#include "task/holders.h"

#include <stdlib.h>

#include "alloc.h"

#define FEWEST 64 /* threads; one word of bits */

static bool make_room(struct holders *h)
{
	uint32_t room = h->room ? h->room * 2 : FEWEST;
	struct thread **threads = mg_realloc(h->thread, room * sizeof(*threads));
	uint64_t *bits;

	if (!threads)
		return false;
	h->thread = threads;
	bits = mg_realloc(h->bits, room / 8);
	if (!bits)
		return false;
	memset(bits + h->room / 64, 0, (room - h->room) / 8);
	h->bits = bits;
	h->room = room;
	return true;
}

bool holders_add(struct core *c, struct thread *t)
{
	struct holders *h = &c->tasks.holders;

	if (h->n == h->room && !make_room(h))
		return false;
	t->number = h->n;
	h->thread[h->n++] = t;
	return true;
}

struct thread *holders_from(const struct core *c, uint32_t number)
{
	const struct holders *h = &c->tasks.holders;

	for (uint32_t i = number / 64; i < h->room / 64; i++) {
		uint64_t left = h->bits[i];

		if (i == number / 64)
			left &= ~0ull << number % 64;
		if (left)
			return h->thread[i * 64 + (uint32_t)__builtin_ctzll(left)];
	}
	return NULL;
}

void holders_renumber(struct core *c)
{
	struct holders *h = &c->tasks.holders;

	if (!h->n)
		return;
	h->n = 0;
	memset(h->bits, 0, h->room / 8);
	for (struct thread *t = c->tasks.threads; t; t = t->hh.next) {
		t->number = h->n;
		h->thread[h->n++] = t;
		holders_set(c, t, t->done.call);
	}
}

void holders_free(struct core *c)
{
	free(c->tasks.holders.thread);
	free(c->tasks.holders.bits);
}
