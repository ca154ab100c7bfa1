/* SPDX-License-Identifier: MIT */
#include "figures/recent.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

static const uint8_t cause_of_why[WHYS] = {
	[WHY_NOT_KNOWN] = CAUSE_BUFFER,
	[WHY_IMMEDIATE] = CAUSE_STACK,
	[WHY_WINDOW] = CAUSE_WINDOW,
	[WHY_CWND] = CAUSE_CWND,
	[WHY_NAGLE] = CAUSE_NAGLE,
	[WHY_CORK] = CAUSE_CORK,
	[WHY_AUTOCORK] = CAUSE_AUTOCORK,
	[WHY_TSQ] = CAUSE_TSQ,
	[WHY_PACING] = CAUSE_PACING,
};

enum cause recent_cause_of_why(enum why_reason why)
{
	return cause_of_why[why];
}

struct recent_bytes *recent_new(uint32_t *count)
{
	struct recent_bytes *r = *count < RECENT_MAX ? mg_calloc(1, sizeof(*r)) : NULL;

	if (!r)
		return NULL;
	r->count = count;
	r->users = 1;
	++*count;
	return r;
}

static void let_go(struct recent_bytes *r)
{
	if (!r || --r->users)
		return;
	free(r->came);
	free(r);
}

void recent_free(struct recent_bytes *r)
{
	if (!r)
		return;
	--*r->count;
	r->count = NULL;
	let_go(r->far);
	r->far = NULL;
	let_go(r);
}

static void set_far(struct recent_bytes *r, struct recent_bytes *far)
{
	if (r->far == far || !r->count)
		return;
	let_go(r->far);
	r->far = far;
	far->users++;
}

void recent_join(struct recent_bytes *sender, struct recent_bytes *receiver)
{
	set_far(sender, receiver);
	set_far(receiver, sender);
}

/* Makes room: joins the first two times of one cause, or else forgets the oldest. */
static void held_shorten(struct recent_bytes *r)
{
	uint32_t gone = 0;

	for (uint32_t i = 0; !gone && i + 1 < r->held_n; i++)
		for (uint32_t k = i + 1; !gone && k < r->held_n; k++)
			if (r->held[i].cause == r->held[k].cause) {
				r->held[i].length += r->held[k].length;
				gone = k;
			}
	memmove(r->held + gone, r->held + gone + 1, (--r->held_n - gone) * sizeof(*r->held));
}

static void held_add(struct recent_bytes *r, uint64_t begin, uint64_t length, uint8_t cause)
{
	if (r->held_n == RECENT_HELD)
		held_shorten(r);
	r->held[r->held_n++] = (struct recent_held){begin, length, cause};
}

/* Adds a time that may overlap with the last one of its cause: then both are one. */
static void held_extend(struct recent_bytes *r, uint64_t begin, uint64_t length, uint8_t cause)
{
	struct recent_held *last = NULL;
	uint64_t end = begin + length;

	for (uint32_t i = r->held_n; !last && i--;)
		if (r->held[i].cause == cause)
			last = &r->held[i];
	if (!last || begin >= last->begin + last->length || end < last->begin) {
		held_add(r, begin, length, cause);
		return;
	}
	if (end < last->begin + last->length)
		end = last->begin + last->length;
	if (begin < last->begin)
		last->begin = begin;
	last->length = end - last->begin;
}

/* Notes the time in which the bytes could be read and were not. */
static void waits_for_reader(struct recent_bytes *r, const struct recent_range *range)
{
	uint64_t before = range->stage[RX_STAGE_DEV_IP] + range->stage[RX_STAGE_IP_TCP] +
			  range->stage[RX_STAGE_ORDER];

	if (range->stage[RX_STAGE_ABSENT])
		held_extend(r, range->begin + before, range->stage[RX_STAGE_ABSENT], CAUSE_READER);
}

/* A wait below this part of a byte's time is not worth an entry of its own. */
#define QUEUED_PART 16

/* Notes the time in which bytes were in the device's queue. */
static void waits_in_queue(struct recent_bytes *r, const struct recent_range *range, uint64_t total)
{
	uint64_t before = range->stage[TX_STAGE_CALL] + range->stage[TX_STAGE_SNDBUF] +
			  range->stage[TX_STAGE_IP];

	uint64_t begin = range->begin + before, wait = range->stage[TX_STAGE_QDISC];

	/* a queue that is never empty has short waits, too: bytes wait for it in the send buffer */
	if (wait <= total / QUEUED_PART && begin >= r->queued_until)
		return;
	held_extend(r, begin, wait, CAUSE_QDISC);
	if (begin + wait > r->queued_until)
		r->queued_until = begin + wait;
}

void recent_range_add(struct recent_bytes *r, const struct fact_range *f)
{
	struct recent_range *to = &r->range[r->ranges++ % RECENT_RANGES];
	bool rx = f->flow.rx;

	to->offset = f->offset;
	to->length = f->length;
	to->begin = f->begin;
	to->followed = f->outcome == OUTCOME_FOLLOWED;
	to->until = f->begin && f->elapsed != FACT_NONE ? f->begin + f->elapsed : 0;
	if (!to->until && to->followed)
		to->until = f->begin + f->total;
	if (!rx && f->transmitted > to->until)
		to->until = f->transmitted;
	memset(to->stage, 0, sizeof(to->stage));
	for (int i = 0; to->followed && i < (rx ? (int)RX_STAGES : (int)TX_STAGES); i++) {
		uint64_t time = f->stage[(rx ? (int)TX_STAGES : 0) + i];

		to->stage[i] = time == FACT_NONE ? 0 : time;
	}
	if (rx && f->outcome == OUTCOME_SENT_AGAIN && f->transmitted > f->begin)
		held_extend(r, f->begin, f->transmitted - f->begin, CAUSE_LOST);
	if (rx && to->followed)
		waits_for_reader(r, to);
	else if (to->followed)
		waits_in_queue(r, to, f->total);
}

void recent_came_add(
	struct recent_bytes *sender, const struct recent_bytes *receiver, uint64_t offset)
{
	const struct recent_range *range = recent_find(receiver, offset);

	if (range && !sender->came)
		sender->came = mg_calloc(RECENT_RANGES, sizeof(*sender->came));
	if (range && sender->came)
		sender->came[sender->came_n++ % RECENT_RANGES] = *range;
}

void recent_unsent_add(struct recent_bytes *r, const struct fact_unsent *f)
{
	for (int i = 0; i < WHYS; i++)
		if (f->held[i] && f->held[i] != FACT_NONE)
			held_add(r, f->begin, f->held[i], cause_of_why[i]);
}

/* Bytes that were lost together wait at the same time. */
void recent_resent_add(struct recent_bytes *r, const struct fact_resent *f)
{
	if (f->begin && f->end > f->begin)
		held_extend(r, f->begin, f->end - f->begin, CAUSE_LOST);
}

void recent_divided(struct recent_bytes *r, uint64_t begin)
{
	uint32_t kept = 0;

	if (!r || !begin)
		return;
	for (uint32_t i = 0; i < r->held_n; i++)
		if (r->held[i].begin + r->held[i].length > r->divided)
			r->held[kept++] = r->held[i];
	r->held_n = kept;
	r->divided = begin;
}

const struct recent_range *recent_find(const struct recent_bytes *r, uint64_t offset)
{
	for (uint32_t i = 0; r && i < RECENT_RANGES && i < r->ranges; i++)
		if (offset - r->range[i].offset < r->range[i].length)
			return &r->range[i];
	return NULL;
}

static bool is_within(uint64_t t, uint64_t from, uint64_t to)
{
	return t && t >= from && t <= to;
}

const struct recent_range *recent_begun(const struct recent_bytes *r, uint64_t from, uint64_t to)
{
	const struct recent_range *last = NULL;

	for (uint32_t i = 0; r && i < RECENT_RANGES && i < r->ranges; i++)
		if (is_within(r->range[i].begin, from, to) &&
			(!last || r->range[i].begin >= last->begin))
			last = &r->range[i];
	return last;
}

/* Returns the last of the ranges, of which the last `n` are in a ring, that ended in an interval.
 */
static const struct recent_range *last_ended(
	const struct recent_range *range, uint32_t n, uint64_t from, uint64_t to)
{
	const struct recent_range *last = NULL;

	for (uint32_t i = 0; i < RECENT_RANGES && i < n; i++)
		if (is_within(range[i].until, from, to) && (!last || range[i].until >= last->until))
			last = &range[i];
	return last;
}

const struct recent_range *recent_came(
	const struct recent_bytes *sender, uint64_t from, uint64_t to)
{
	if (!sender)
		return NULL;
	if (sender->came)
		return last_ended(sender->came, sender->came_n, from, to);
	return sender->far ? last_ended(sender->far->range, sender->far->ranges, from, to) : NULL;
}

uint64_t recent_until(const struct recent_bytes *r, uint64_t from, uint64_t to)
{
	uint64_t until = 0;

	for (uint32_t i = 0; r && i < RECENT_RANGES && i < r->ranges; i++)
		if (r->range[i].offset < to && r->range[i].offset + r->range[i].length > from &&
			r->range[i].until > until)
			until = r->range[i].until;
	return until;
}

void recent_held(const struct recent_bytes *r, uint64_t from, uint64_t to, uint64_t sum[CAUSES])
{
	for (uint32_t i = 0; r && i < r->held_n; i++) {
		const struct recent_held *h = &r->held[i];
		uint64_t end = h->begin + h->length;
		uint64_t first = h->begin > from ? h->begin : from, last = end < to ? end : to;

		if (last > first)
			sum[h->cause] += last - first;
	}
}

uint64_t recent_lost(const struct recent_bytes *r, uint64_t from, uint64_t to)
{
	uint64_t held[CAUSES] = {0};

	recent_held(r, from, to, held);
	return held[CAUSE_LOST];
}
