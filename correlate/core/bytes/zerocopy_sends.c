/* SPDX-License-Identifier: MIT */
#include "bytes/zerocopy_sends.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

#define HELD_MAX 65536 /* a send whose end has not come after this many later ones was missed */

static bool before(uint32_t a, uint32_t b)
{
	return (int32_t)(a - b) < 0;
}

uint32_t zerocopy_lower_bound(const struct zerocopy *z, uint32_t id)
{
	uint32_t low = z->head, high = z->head + z->len;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (before(z->held[middle].id, id))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool make_room(struct zerocopy *z)
{
	struct zerocopy_send *more;

	if (z->len == HELD_MAX) {
		z->unsure++;
		z->head++;
		z->len--;
	}
	if (z->head + z->len < z->cap)
		return true;
	if (z->head > z->cap / 2) {
		memmove(z->held, z->held + z->head, z->len * sizeof(*z->held));
		z->head = 0;
		return true;
	}
	more = mg_realloc(z->held, (z->cap ? z->cap * 2 : 16) * sizeof(*more));
	if (!more)
		return false;
	z->held = more;
	z->cap = z->cap ? z->cap * 2 : 16;
	return true;
}

void zerocopy_hold(struct zerocopy *z, uint32_t id, uint64_t t)
{
	uint32_t at, end;

	if (!make_room(z)) {
		z->unsure++;
		return;
	}
	end = z->head + z->len;
	at = z->len && !before(z->held[end - 1].id, id) ? zerocopy_lower_bound(z, id) : end;
	memmove(z->held + at + 1, z->held + at, (end - at) * sizeof(*z->held));
	z->held[at] = (struct zerocopy_send){id, t};
	z->len++;
}

const struct zerocopy_notice *zerocopy_notice_of(const struct zerocopy *z, uint32_t id)
{
	for (int i = 0; i < ZEROCOPY_NOTICES; i++)
		if (z->notice[i].known &&
			zerocopy_within(id, z->notice[i].first, z->notice[i].last))
			return &z->notice[i];
	return NULL;
}

void zerocopy_note(struct zerocopy *z, const struct zerocopy_notice *n)
{
	uint32_t at = z->next_notice;

	for (uint32_t i = 0; i < ZEROCOPY_NOTICES; i++)
		if (z->notice[i].known && z->notice[i].first == n->first)
			at = i;
	if (at == z->next_notice)
		z->next_notice = (at + 1) % ZEROCOPY_NOTICES;
	z->notice[at] = *n;
}

uint64_t zerocopy_missed(const struct zerocopy *z)
{
	uint32_t last = z->head;

	for (int i = 0; i < ZEROCOPY_NOTICES; i++)
		if (z->notice[i].known) {
			uint32_t at = zerocopy_lower_bound(z, z->notice[i].last);

			last = at > last ? at : last;
		}
	return last - z->head;
}

void zerocopy_free(struct zerocopy *z)
{
	if (!z)
		return;
	free(z->held);
	free(z);
}
