/* SPDX-License-Identifier: MIT */

#include "bytes/resent.h"

#include <stdbool.h>
#include <stdlib.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "bytes/ranges.h"

#define RANGES_MAX 1024

/* Returns the record of retransmitted bytes; NULL if memory is short. */
static struct resent *resent_of(struct flow *f)
{
	if (!f->copies.resent_times)
		f->copies.resent_times = mg_calloc(1, sizeof(*f->copies.resent_times));
	return f->copies.resent_times;
}

static void settle_at(const struct core *c, struct flow *f, struct resent *r, uint32_t i)
{
	const struct resent_range *x = &r->range[i];

	emit_resent(&c->facts, &(struct fact_resent){.flow = flow_fact(f),
				       .offset = x->a,
				       .length = x->b - x->a,
				       .begin = x->first,
				       .end = x->last});
	r->range[i] = r->range[--r->n];
}

/* Returns the first range that ends at `upto` or before; the count of ranges if there is none. */
static uint32_t first_until(const struct resent *r, uint64_t upto)
{
	uint32_t first = r->n;

	for (uint32_t i = 0; i < r->n; i++)
		if (r->range[i].b <= upto && (first == r->n || r->range[i].a < r->range[first].a))
			first = i;
	return first;
}

void resent_settle(const struct core *c, struct flow *f, uint64_t upto)
{
	struct resent *r = f->copies.resent_times;
	uint32_t i;

	while (r && (i = first_until(r, upto)) < r->n)
		settle_at(c, f, r, i);
}

bool resent_is_pending(const struct flow *f, uint64_t from, uint64_t to)
{
	const struct resent *r = f->copies.resent_times;

	for (uint32_t i = 0; r && i < r->n; i++)
		if (r->range[i].a < to && r->range[i].b > from)
			return true;
	return false;
}

/* Makes room: settles what is acknowledged, and all ranges if too many are not. */
static void make_room(const struct core *c, struct flow *f, struct resent *r)
{
	if (r->n == r->cap)
		resent_settle(c, f, f->ack.to);
	if (r->n > RANGES_MAX)
		resent_settle(c, f, UINT64_MAX);
}

static void add(struct resent *r, struct resent_range x)
{
	if (x.a >= x.b)
		return;
	if (r->n == r->cap) {
		uint32_t cap = r->cap ? r->cap * 2 : 4;
		struct resent_range *more = mg_realloc(r->range, cap * sizeof(*more));

		if (!more)
			return;
		r->range = more;
		r->cap = cap;
	}
	r->range[r->n++] = x;
}

/* Adds the parts of the range before and behind [a, b) unchanged. */
static void keep_outside(struct resent *r, struct resent_range x, uint64_t a, uint64_t b)
{
	struct resent_range rest = x;

	if (x.a < a) {
		rest.b = a;
		add(r, rest);
	}
	if (x.b > b) {
		rest = x;
		rest.a = b;
		add(r, rest);
	}
}

/* Updates the bytes of [a, b) that were sent again before: this copy is their last one now. */
static void renew(struct resent *r, uint64_t a, uint64_t b, uint64_t now)
{
	uint32_t n = r->n;

	for (uint32_t i = 0; i < n; i++) {
		struct resent_range x = r->range[i];

		if (x.b <= a || x.a >= b)
			continue;
		r->range[i].a = x.a < a ? a : x.a;
		r->range[i].b = x.b > b ? b : x.b;
		r->range[i].last = now;
		keep_outside(r, x, a, b);
	}
}

/* Returns whether a byte has been sent again before; `*end` is where the answer changes. */
static bool is_known(const struct resent *r, uint64_t at, uint64_t *end)
{
	for (uint32_t i = 0; i < r->n; i++) {
		const struct resent_range *x = &r->range[i];

		if (x->a <= at && at < x->b) {
			if (x->b < *end)
				*end = x->b;
			return true;
		}
		if (x->a > at && x->a < *end)
			*end = x->a;
	}
	return false;
}

struct copying {
	struct resent *r;
	uint64_t now;
};

/* Adds the first copy of bytes that had not been sent again yet. */
static void first_copy(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present)
{
	const struct copying *x = arg;

	if (!present || t[0] >= x->now) /* these are new, or their first time is not known */
		return;
	for (uint64_t end = b; a < b; a = end, end = b)
		if (!is_known(x->r, a, &end))
			add(x->r, (struct resent_range){a, end, t[0], x->now});
}

void resent_on_copy(const struct core *c, struct flow *f, uint64_t a, uint64_t b, uint64_t now)
{
	const struct ranges *sent[] = {&f->layer[TX_IP_OUT]};
	struct copying x = {resent_of(f), now};

	if (!x.r)
		return;
	make_room(c, f, x.r);
	renew(x.r, a, b, now);
	ranges_atoms(sent, 1, a, b, first_copy, &x);
}

void resent_shift(struct flow *f, uint64_t by)
{
	struct resent *r = f->copies.resent_times;

	for (uint32_t i = 0; r && i < r->n; i++) {
		r->range[i].a += by;
		r->range[i].b += by;
	}
}

void resent_free(struct resent *r)
{
	if (!r)
		return;
	free(r->range);
	free(r);
}
