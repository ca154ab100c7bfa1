/* SPDX-License-Identifier: MIT */
#include "figures/slow_ranges.h"

#include <stdlib.h>

#include "alloc.h"

int slow_range_order(const void *a, const void *b)
{
	const struct slow_range *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? 1 : -1;
	if (x->begin != y->begin)
		return x->begin > y->begin ? 1 : -1;
	return x->offset > y->offset ? 1 : -(x->offset < y->offset);
}

static void swap(struct slow_range *a, struct slow_range *b)
{
	struct slow_range x = *a;

	*a = *b;
	*b = x;
}

/* Puts the last element where it belongs. */
static void rise(struct slow_range *heap, uint32_t i)
{
	for (; i && slow_range_order(&heap[(i - 1) / 2], &heap[i]) < 0; i = (i - 1) / 2)
		swap(&heap[i], &heap[(i - 1) / 2]);
}

/* Puts the first element where it belongs. */
static void sink(struct slow_range *heap, uint32_t n)
{
	for (uint32_t i = 0, least;; i = least) {
		least = i;
		for (uint32_t k = 2 * i + 1; k < n && k <= 2 * i + 2; k++)
			if (slow_range_order(&heap[k], &heap[least]) > 0)
				least = k;
		if (least == i)
			return;
		swap(&heap[i], &heap[least]);
	}
}

static struct slow_range range_of(const struct fact_range *r)
{
	struct slow_range s = {.sock = r->flow.sock,
		.offset = r->offset,
		.length = r->length,
		.begin = r->begin,
		.total = r->total,
		.why = r->why,
		.rx = r->flow.rx};
	const uint64_t *stage = r->stage + (r->flow.rx ? (int)TX_STAGES : 0);

	for (int i = 0; i < (r->flow.rx ? (int)RX_STAGES : (int)TX_STAGES); i++)
		s.stage[i] = stage[i];
	return s;
}

static bool grow(struct slow_ranges *s, uint32_t most)
{
	uint32_t room = s->room ? 2 * s->room : 16;
	struct slow_range *more;

	room = room < most ? room : most;
	more = mg_realloc(s->of, room * sizeof(*more));
	if (!more)
		return false;
	s->of = more;
	s->room = room;
	return true;
}

void slow_ranges_add(struct slow_ranges **all, uint32_t most, const struct fact_range *r)
{
	struct slow_ranges *s = *all;
	struct slow_range this;

	if (r->outcome != OUTCOME_FOLLOWED)
		return;
	if (!s)
		s = *all = mg_calloc(1, sizeof(*s));
	if (!s || s->answered)
		return;
	this = range_of(r);
	if (s->n < most) {
		if (s->n == s->room && !grow(s, most))
			return;
		s->of[s->n] = this;
		rise(s->of, s->n++);
	} else if (slow_range_order(&this, &s->of[0]) < 0) {
		s->of[0] = this;
		sink(s->of, s->n);
	}
}

void slow_ranges_answered(struct slow_ranges **all)
{
	struct slow_ranges *s = *all;

	if (!s)
		s = *all = mg_calloc(1, sizeof(*s));
	if (!s || s->answered)
		return;
	free(s->of);
	*s = (struct slow_ranges){.answered = true};
}

void slow_ranges_free(struct slow_ranges *s)
{
	if (s)
		free(s->of);
	free(s);
}
