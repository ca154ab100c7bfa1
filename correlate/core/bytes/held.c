/* SPDX-License-Identifier: MIT */

#include "bytes/held.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "facts/why_reasons.h"

static struct held_span *span_at(const struct held_time *h, uint32_t i)
{
	return &h->span[(h->head + i) & (h->cap - 1)];
}

static uint64_t span_from(const struct held_time *h, uint32_t i)
{
	return i ? span_at(h, i - 1)->until : h->begin;
}

/* ---- between two times ---- */

/* Moves the cursor forward, and adds the time passed to `between`, or subtracts it. */
static void advance(struct held_time *h, struct held_cursor *k, uint64_t t, bool add)
{
	while (k->t < t && k->at < h->len) {
		const struct held_span *s = span_at(h, k->at);
		uint64_t next = s->until < t ? s->until : t;

		if (add)
			h->between[s->reason] += next - k->t;
		else
			h->between[s->reason] -= next - k->t;
		k->t = next;
		k->at += next == s->until;
	}
}

/* Moves the end of the range back. */
static void retreat(struct held_time *h, uint64_t t)
{
	struct held_cursor *k = &h->to;

	while (k->t > t) {
		uint64_t from;

		if (k->at == h->len || span_from(h, k->at) == k->t)
			k->at--;
		from = span_from(h, k->at);
		if (from < t)
			from = t;
		h->between[span_at(h, k->at)->reason] -= k->t - from;
		k->t = from;
	}
}

static void move_begin(struct held_time *h, uint64_t t)
{
	if (t > h->to.t)
		advance(h, &h->to, t, true);
	advance(h, &h->from, t, false);
	while (h->from.at) {
		h->begin = span_at(h, 0)->until;
		h->head = (h->head + 1) & (h->cap - 1);
		h->len--;
		h->from.at--;
		h->to.at--;
	}
}

bool held_one(const struct held_time *h, uint64_t from, uint64_t to, enum why_reason *reason)
{
	if (!h->len || from < h->from.t || to > span_at(h, 0)->until)
		return false;
	*reason = span_at(h, 0)->reason;
	return true;
}

void held_divide(struct held_time *h, uint64_t from, uint64_t to, uint64_t by[WHYS])
{
	uint64_t a = from > h->from.t ? from : h->from.t, b = to < h->end ? to : h->end;

	memset(by, 0, WHYS * sizeof(*by));
	if (a < b) {
		move_begin(h, a);
		if (b > h->to.t)
			advance(h, &h->to, b, true);
		else
			retreat(h, b);
		memcpy(by, h->between, WHYS * sizeof(*by));
		from += b - a;
	}
	if (from < to)
		by[WHY_NOT_KNOWN] += to - from;
}

void held_sum(const struct held_time *h, uint64_t from, uint64_t to, uint64_t by[WHYS])
{
	uint64_t rest = to > from ? to - from : 0;

	for (uint32_t i = h->len; i-- > 0 && span_at(h, i)->until > from;) {
		uint64_t a = span_from(h, i), b = span_at(h, i)->until;

		if (a < from)
			a = from;
		if (b > to)
			b = to;
		if (a >= b)
			continue;
		by[span_at(h, i)->reason] += b - a;
		rest -= b - a;
	}
	by[WHY_NOT_KNOWN] += rest;
}

/* ---- what comes after ---- */

/* Makes room for one more span; drops the oldest if there are too many. */
static bool make_room(struct held_time *h)
{
	if (h->len == h->cap && h->cap < HELD_SPANS_MAX) {
		uint32_t cap = h->cap ? h->cap * 2 : 8;
		struct held_span *p = mg_malloc(cap * sizeof(*p));

		for (uint32_t i = 0; p && i < h->len; i++)
			p[i] = *span_at(h, i);
		if (p) {
			free(h->span);
			h->span = p;
			h->head = 0;
			h->cap = cap;
		}
	}
	if (h->len && h->len == h->cap)
		move_begin(h, span_at(h, 0)->until);
	return h->cap;
}

static void begin_at(struct held_time *h, uint64_t t)
{
	h->begin = h->end = h->from.t = h->to.t = t;
}

/* Extends the last span: a cursor at its end is within it now. */
static void prolong(struct held_time *h, uint64_t until)
{
	span_at(h, h->len - 1)->until = until;
	if (h->from.at == h->len)
		h->from.at--;
	if (h->to.at == h->len)
		h->to.at--;
	h->end = until;
}

void held_add(struct held_time *h, enum why_reason reason, uint64_t until)
{
	if (until <= h->end)
		return;
	if (h->len && span_at(h, h->len - 1)->reason == reason) {
		prolong(h, until);
		return;
	}
	if (!h->end || !make_room(h)) {
		begin_at(h, until);
		return;
	}
	h->len++;
	*span_at(h, h->len - 1) = (struct held_span){.until = until, .reason = reason};
	h->end = until;
}

void held_skip(struct held_time *h, uint64_t until)
{
	if (until <= h->end)
		return;
	if (h->len)
		prolong(h, until);
	else
		begin_at(h, until);
}

void held_free(struct held_time *h)
{
	free(h->span);
	memset(h, 0, sizeof(*h));
}
