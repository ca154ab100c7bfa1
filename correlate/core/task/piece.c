/* SPDX-License-Identifier: MIT */
#include "task/piece.h"

#include "alloc.h"
#include "core.h"

struct piece *call_add_piece(
	struct kernel_call *k, struct flow *f, uint64_t off, uint64_t len, uint64_t t)
{
	struct piece *p;

	if (k->pieces == k->pieces_cap) {
		uint32_t cap = k->pieces_cap ? k->pieces_cap * 2 : 4;

		p = mg_realloc(k->piece, cap * sizeof(*p));
		if (!p)
			return NULL;
		k->piece = p;
		k->pieces_cap = cap;
	}
	p = &k->piece[k->pieces++];
	*p = (struct piece){.flow = f, .off = off, .len = len, .t = t};
	f->sock->kept.by++;
	return p;
}
