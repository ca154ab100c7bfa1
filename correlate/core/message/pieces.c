/* SPDX-License-Identifier: MIT */
/* Removes pieces from calls, and frees the messages that they hold. */
#include "message/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "message/arrival.h"
#include "message/parcel.h"
#include "task/threads.h"

void piece_release(struct piece *p)
{
	p->flow->sock->kept.by--;
	if (p->parcel)
		parcel_put(p->parcel);
	if (p->arrival)
		arrival_put(p->arrival);
}

void call_drop_pieces(struct kernel_call *k, uint32_t from)
{
	for (uint32_t i = from; i < k->pieces; i++)
		piece_release(&k->piece[i]);
	if (from < k->pieces)
		k->pieces = from;
}

void kernel_call_free(struct kernel_call *k)
{
	call_drop_pieces(k, 0);
	free(k->piece);
	memset(k, 0, sizeof(*k));
}

void kernel_call_clear(struct kernel_call *k)
{
	struct piece *room = k->piece;
	uint32_t cap = k->pieces_cap;

	memset(k, 0, sizeof(*k));
	k->piece = room;
	k->pieces_cap = cap;
}

void kernel_call_free_for(struct kernel_call *k, struct kernel_call *to)
{
	call_drop_pieces(k, 0);
	if (!to->piece) {
		to->piece = k->piece;
		to->pieces_cap = k->pieces_cap;
		k->piece = NULL;
	}
	kernel_call_free(k);
}
