/* SPDX-License-Identifier: MIT */
/*
 * Frames on their way out, by their buffers. No event says when a buffer is freed, but its address
 * is soon reused: then the older frame there is forgotten.
 */
#include "message/frames.h"

#include <stdlib.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "message/arrival.h"
#include "message/parcel.h"

#define UNCUT_MAX 256 /* frames of one socket that stand for several */

static struct frame **chain_of(const struct core *c, uint32_t buffer)
{
	return &c->frames->chain[buffer & (FRAME_CHAINS - 1)];
}

static void take_off_chain(struct core *c, struct frame *f)
{
	struct frame **at = chain_of(c, f->buffer);

	while (*at && *at != f)
		at = &(*at)->next;
	if (*at)
		*at = f->next;
}

void frame_is_uncut(struct queues *q, struct frame *f)
{
	struct frame **at = &q->uncut;
	uint32_t n = 0;

	for (; *at; at = &(*at)->next_uncut)
		n++;
	*at = f;
	f->is_uncut = true;
	if (n > UNCUT_MAX)
		frame_is_over(q->uncut);
}

void frame_is_over(struct frame *f)
{
	struct frame **at;

	if (!f->is_uncut)
		return;
	f->is_uncut = false;
	for (at = &f->parcel->flow->sock->queues->uncut; *at && *at != f;)
		at = &(*at)->next_uncut;
	if (*at)
		*at = f->next_uncut;
}

void frame_forget(struct core *c, struct frame *f)
{
	struct frames *all = c->frames;
	struct parcel *p = f->parcel;

	frame_is_over(f);
	take_off_chain(c, f);
	*(f->older ? &f->older->newer : &all->oldest) = f->newer;
	*(f->newer ? &f->newer->older : &all->newest) = f->older;
	all->n--;
	f->is_known = false;
	if (!f->waits)
		free(f);
	parcel_put(p);
}

struct frame *frame_find(const struct core *c, uint32_t buffer, const struct flow *flow)
{
	if (!c->frames)
		return NULL;
	for (struct frame *f = *chain_of(c, buffer); f; f = f->next)
		if (f->buffer == buffer && (!flow || f->parcel->flow == flow))
			return f;
	return NULL;
}

/*
 * Ends the older frame in a buffer. Within one datagram, the whole may share its buffer with its
 * first part. A frame that was cut has released its buffer, though its segments may still wait in a
 * queue.
 */
static void end_older(struct core *c, uint32_t buffer, const struct parcel *p)
{
	struct frame *f, *next;

	for (f = *chain_of(c, buffer); f; f = next) {
		next = f->next;
		if (f->buffer != buffer || f->parcel == p)
			continue;
		if (f->is_uncut)
			take_off_chain(c, f);
		else
			frame_forget(c, f);
	}
}

struct frames *frames_of(struct core *c)
{
	if (!c->frames)
		c->frames = mg_calloc(1, sizeof(*c->frames));
	return c->frames;
}

struct frame *frame_add(struct core *c, struct parcel *p, uint32_t buffer)
{
	struct frame *f, **chain;

	f = frames_of(c) ? mg_calloc(1, sizeof(*f)) : NULL;
	if (!f)
		return NULL;
	end_older(c, buffer, p);
	if (c->frames->n >= FRAMES_MAX && c->frames->oldest->parcel != p)
		frame_forget(c, c->frames->oldest);
	chain = chain_of(c, buffer);
	f->buffer = buffer;
	f->parcel = parcel_get(p);
	f->is_known = true;
	f->next = *chain;
	*chain = f;
	f->older = c->frames->newest;
	*(f->older ? &f->older->newer : &c->frames->oldest) = f;
	c->frames->newest = f;
	c->frames->n++;
	return f;
}

void frames_free(struct core *c)
{
	while (c->frames && c->frames->oldest)
		frame_forget(c, c->frames->oldest);
	free(c->frames);
	c->frames = NULL;
}
