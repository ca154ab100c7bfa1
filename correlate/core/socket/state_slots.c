/* SPDX-License-Identifier: MIT */
#include "socket/state_slots.h"

#include <stdlib.h>

#include "alloc.h"
#include "core.h"

#define PAIRS_AT_ONCE 255 /* 4 KiB with the block's own members */

/* States of a socket's two flows; NULL: none. */
struct state_pair {
	void *tx;
	union {
		void *rx;
		struct state_pair *next; /* a spare one */
	};
};

struct state_block {
	struct state_block *next;
	struct state_pair pair[PAIRS_AT_ONCE];
};

static bool make_spare(struct state_slots *all)
{
	struct state_block *b = mg_malloc(sizeof(*b));

	if (!b)
		return false;
	b->next = all->blocks;
	all->blocks = b;
	for (int i = PAIRS_AT_ONCE; i-- > 0;) {
		b->pair[i].next = all->spare;
		all->spare = &b->pair[i];
	}
	return true;
}

bool state_slots_take(struct core *c, struct mg_sock *s)
{
	struct state_slots *all = &c->sockets.states;
	struct state_pair *p;

	s->tx.state = s->rx.state = NULL;
	if (!all->spare && !make_spare(all))
		return false;
	p = all->spare;
	all->spare = p->next;
	*p = (struct state_pair){0};
	s->tx.state = &p->tx;
	s->rx.state = &p->rx;
	return true;
}

void state_slots_give(struct core *c, struct mg_sock *s)
{
	struct state_pair *p = (struct state_pair *)(void *)s->tx.state;

	if (!p)
		return;
	p->next = c->sockets.states.spare;
	c->sockets.states.spare = p;
	s->tx.state = s->rx.state = NULL;
}

void state_slots_free(struct core *c)
{
	struct state_block *b;

	while ((b = c->sockets.states.blocks)) {
		c->sockets.states.blocks = b->next;
		free(b);
	}
}
