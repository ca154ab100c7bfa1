/* SPDX-License-Identifier: MIT */
#include "bytes/packing.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "bytes/words.h"

static uint8_t *room_for(struct packing *p, size_t bytes)
{
	struct packing_room *into = p->into;
	uint8_t *more;

	if (p->failed || p->n + bytes <= into->cap)
		return p->failed ? NULL : into->bytes + p->n;
	more = mg_realloc(into->bytes, 2 * (p->n + bytes));
	if (!more) {
		p->failed = true;
		return NULL;
	}
	into->bytes = more;
	into->cap = 2 * (p->n + bytes);
	return more + p->n;
}

void pack_words(struct packing *p, const void *from, size_t bytes)
{
	size_t n = bytes / sizeof(uint64_t);
	uint8_t *to = n ? room_for(p, WORDS_ROOM(n)) : NULL;

	if (to)
		p->n = (size_t)(words_write(to, from, n) - p->into->bytes);
}

void pack_bytes(struct packing *p, const void *from, size_t bytes)
{
	uint8_t *to = bytes ? room_for(p, bytes) : NULL;

	if (!to)
		return;
	memcpy(to, from, bytes);
	p->n += bytes;
}

void *unpack_words(struct unpacking *u, size_t bytes, size_t room)
{
	void *to = room && !u->failed ? mg_calloc(1, room) : NULL;

	if (to && bytes)
		u->from = words_read(u->from, to, bytes / sizeof(uint64_t));
	u->failed |= room && !to;
	return to;
}

void unpack_words_to(struct unpacking *u, void *to, size_t bytes)
{
	u->failed |= !to;
	if (u->failed)
		return;
	memset(to, 0, bytes);
	if (bytes)
		u->from = words_read(u->from, to, bytes / sizeof(uint64_t));
}

void unpack_bytes(struct unpacking *u, void *to, size_t bytes)
{
	u->failed |= !to;
	if (u->failed)
		return;
	memcpy(to, u->from, bytes);
	u->from += bytes;
}
