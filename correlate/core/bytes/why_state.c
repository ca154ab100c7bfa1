/* SPDX-License-Identifier: MIT */
#include "bytes/why_state.h"

#include <stdlib.h>
#include <string.h>

void why_trim(struct why *w)
{
	if (!w || w->len)
		return;
	ranges_trim(&w->label);
	held_free(&w->split.held);
	if (w->cap)
		free(w->flight);
	memset(w->own, 0, sizeof(w->own));
	w->head = w->cap = 0;
}

void why_free(struct why *w)
{
	if (!w)
		return;
	ranges_free(&w->label);
	held_free(&w->split.held);
	if (w->cap)
		free(w->flight);
	free(w);
}

void why_shift(struct why *w, uint64_t by)
{
	ranges_shift(&w->label, by);
	w->una += by;
	w->window_end += by;
	w->room.una += by;
	w->room.window_end += by;
	w->small_end += by;
	w->first_unsent += by;
	w->split.unsent += by;
	w->split.written += by;
	for (uint32_t i = 0; i < w->len; i++)
		why_in_flight(w, i)->end += by;
}
