/* SPDX-License-Identifier: MIT */

#include "bytes/ranges.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

#define LAYERS_MAX 16
#define FEWEST     4 /* of a list with more than one element */

/* Makes room for one more element at the end. */
static bool reserve(struct ranges *r)
{
	struct range *v;

	if (r->head + r->len < (r->cap ? r->cap : 1))
		return true;
	if (r->head > r->cap / 2) {
		memmove(r->list, ranges_at(r, 0), r->len * sizeof(*r->list));
		r->head = 0;
		return true;
	}
	v = mg_realloc(r->cap ? r->list : NULL, (r->cap ? r->cap * 2 : FEWEST) * sizeof(*v));
	if (!v)
		return false;
	if (!r->cap)
		*v = r->own;
	r->list = v;
	r->cap = r->cap ? r->cap * 2 : FEWEST;
	return true;
}

/* Returns whether bytes are missing between an element and the previous one. */
static bool is_hole(const struct ranges *r, uint32_t i)
{
	return i > 0 && i < r->len && ranges_at(r, i - 1)->b != ranges_at(r, i)->a;
}

static bool insert(struct ranges *r, uint32_t i, uint64_t a, uint64_t b, uint64_t t)
{
	if (!reserve(r))
		return false;
	r->holes -= is_hole(r, i);
	memmove(ranges_at(r, i + 1), ranges_at(r, i), (r->len - i) * sizeof(*r->list));
	*ranges_at(r, i) = (struct range){a, b, t};
	r->len++;
	r->holes += is_hole(r, i);
	r->holes += is_hole(r, i + 1);
	return true;
}

static bool append(struct ranges *r, uint64_t a, uint64_t b, uint64_t t)
{
	if (!reserve(r))
		return false;
	*ranges_at(r, r->len++) = (struct range){a, b, t};
	r->holes += is_hole(r, r->len - 1);
	return true;
}

/* Returns the first element that ends after x. */
static uint32_t first_after(const struct ranges *r, uint64_t x)
{
	uint32_t lo = 0, hi = r->len;

	if (hi && ranges_at(r, 0)->b > x) /* the usual case */
		return 0;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (ranges_at(r, mid)->b > x)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void note(struct ranges *again, uint64_t a, uint64_t b, uint64_t t)
{
	if (again)
		ranges_add(again, a, b, t);
}

uint64_t ranges_add_anywhere(
	struct ranges *r, struct ranges *again, uint64_t a, uint64_t b, uint64_t t)
{
	uint64_t fresh = 0;
	uint32_t i;

	if (a < r->base) {
		note(again, a, smaller(b, r->base), t);
		a = r->base;
	}
	if (a >= b)
		return 0;
	if (r->len == 0 || ranges_at(r, r->len - 1)->b <= a) /* in order */
		return append(r, a, b, t) ? b - a : 0;
	for (i = first_after(r, a); a < b; i++) {
		uint64_t end = b;

		if (i < r->len && ranges_at(r, i)->a <= a) { /* known: skip it */
			note(again, a, smaller(b, ranges_at(r, i)->b), t);
			a = ranges_at(r, i)->b;
			continue;
		}
		if (i < r->len && ranges_at(r, i)->a < end)
			end = ranges_at(r, i)->a;
		if (!insert(r, i, a, end, t))
			break;
		fresh += end - a;
		a = end;
	}
	return fresh;
}

void ranges_shift(struct ranges *r, uint64_t by)
{
	for (uint32_t i = 0; i < r->len; i++) {
		ranges_at(r, i)->a += by;
		ranges_at(r, i)->b += by;
	}
	r->base += by;
}

void ranges_drop(struct ranges *r, uint64_t upto)
{
	if (upto <= r->base)
		return;
	r->base = upto;
	while (r->len && ranges_at(r, 0)->b <= upto) {
		r->holes -= is_hole(r, 1);
		r->head++;
		r->len--;
	}
	if (r->len && ranges_at(r, 0)->a < upto)
		ranges_at(r, 0)->a = upto;
	if (r->len == 0)
		r->head = 0;
}

void ranges_keep(struct ranges *r, uint32_t most)
{
	if (r->len > most)
		ranges_drop(r, ranges_at(r, r->len / 2)->a);
}

uint64_t ranges_reach(const struct ranges *r, uint64_t from)
{
	if (!r->holes && r->len &&
		ranges_at(r, 0)->a <= from) { /* the usual case: as far as they go */
		uint64_t end = ranges_at(r, r->len - 1)->b;

		return end > from ? end : from;
	}
	for (uint32_t i = first_after(r, from); i < r->len && ranges_at(r, i)->a <= from; i++)
		from = ranges_at(r, i)->b;
	return from;
}

void ranges_trim(struct ranges *r)
{
	if (r->len)
		return;
	if (r->cap)
		free(r->list);
	r->head = r->cap = 0;
}

void ranges_free(struct ranges *r)
{
	if (r->cap)
		free(r->list);
	memset(r, 0, sizeof(*r));
}

void ranges_atoms(const struct ranges *const layers[], int count, uint64_t a, uint64_t b,
	atom_fn fn, void *arg)
{
	/* not counted, since `fn` may drop settled ranges */
	const struct range *next[LAYERS_MAX], *last[LAYERS_MAX];
	uint64_t t[LAYERS_MAX] = {0};

	for (int i = 0; i < count; i++) {
		const struct ranges *r = layers[i];

		next[i] = r && r->len ? ranges_at(r, first_after(r, a)) : NULL;
		last[i] = r && r->len ? ranges_at(r, r->len) : NULL;
	}
	while (a < b) {
		uint32_t present = 0;
		uint64_t end = b;

		for (int i = 0; i < count; i++) {
			const struct range *s = next[i];

			while (s != last[i] && s->b <= a)
				s++;
			next[i] = s;
			t[i] = 0;
			if (s == last[i])
				continue;
			if (s->a <= a) {
				present |= 1u << i;
				t[i] = s->t;
				if (s->b < end)
					end = s->b;
			} else if (s->a < end) {
				end = s->a;
			}
		}
		fn(arg, a, end, t, present);
		a = end;
	}
}
