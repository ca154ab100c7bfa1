/* SPDX-License-Identifier: MIT */
#include "export/arrows.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

static void add(struct arrow_list *l, const struct arrow_call *c)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 1024;
		struct arrow_call *of = mg_realloc(l->of, room * sizeof(*of));

		if (!of)
			return;
		l->of = of;
		l->room = room;
	}
	l->of[l->n++] = *c;
}

void arrows_call(struct arrows *a, const struct fact_call *f)
{
	struct arrow_call c = {.sock = f->flow.sock,
		.at = f->flow.rx ? f->end : f->begin,
		.pid = (uint32_t)f->pid,
		.tid = (uint32_t)f->tid,
		.rx = f->flow.rx};

	if (c.sock && c.at && f->bytes && f->bytes != FACT_NONE)
		add(&a->calls, &c);
}

/* Returns whether both are the ends of the pair before, of which this is another range of bytes. */
static bool is_last(
	const struct arrows *a, const struct arrow_call *from, const struct arrow_call *to)
{
	const struct arrow_call *last = a->ends.n ? &a->ends.of[a->ends.n - 2] : NULL;

	return last && last[0].sock == from->sock && last[0].at == from->at &&
	       last[1].sock == to->sock && last[1].at == to->at;
}

void arrows_crossing(struct arrows *a, const struct fact_crossing *f)
{
	struct arrow_call from = {.sock = f->sender.sock, .at = f->begin},
			  to = {.sock = f->flow.sock, .at = f->end, .rx = 1};

	if (!from.sock || !from.at || !to.sock || !to.at || is_last(a, &from, &to))
		return;
	add(&a->ends, &from);
	add(&a->ends, &to);
}

static int compare(const void *a, const void *b)
{
	const struct arrow_call *x = a, *y = b;

	if (x->rx != y->rx)
		return x->rx < y->rx ? -1 : 1;
	if (x->sock != y->sock)
		return x->sock < y->sock ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

void arrows_each(struct arrows *a,
	void (*fn)(void *arg, const struct arrow_call *from, const struct arrow_call *to),
	void *arg)
{
	const struct arrow_list *c = &a->calls;

	if (c->n)
		qsort(c->of, c->n, sizeof(*c->of), compare);
	for (size_t i = 0; c->n && i + 1 < a->ends.n; i += 2) {
		const struct arrow_call *pair = &a->ends.of[i],
					*from = bsearch(
						&pair[0], c->of, c->n, sizeof(*c->of), compare),
					*to = bsearch(
						&pair[1], c->of, c->n, sizeof(*c->of), compare);

		if (from && to)
			fn(arg, from, to);
	}
}

void arrows_free(struct arrows *a)
{
	free(a->calls.of);
	free(a->ends.of);
	memset(a, 0, sizeof(*a));
}
