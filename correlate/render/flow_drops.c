/* SPDX-License-Identifier: MIT */
/*
 * Finds the drops of a flow. There may be tens of thousands of flows, each with its drops: whoever
 * asks for those of each must not walk all of them each time.
 */
#include <errno.h>
#include <stdlib.h>

#include "alloc.h"
#include "report.h"

static int by_flow(uint64_t sock, bool rx, const struct drop *d)
{
	if (sock != d->key.sock)
		return sock < d->key.sock ? -1 : 1;
	return rx - d->key.rx;
}

static int in_order(const void *a, const void *b)
{
	const struct flow_drop *x = a, *y = b;
	int order = by_flow(x->d->key.sock, x->d->key.rx, y->d);

	return order ? order : x->nth < y->nth ? -1 : x->nth > y->nth;
}

int report_take_drops(struct report *r)
{
	const struct drop *all = figures_of(r->core)->drops, *d;

	r->drops = mg_calloc(HASH_COUNT(all) + 1u, sizeof(*r->drops));
	if (!r->drops)
		return -ENOMEM;
	for (d = all; d; d = d->hh.next) {
		r->drops[r->drop_count] = (struct flow_drop){d, r->drop_count};
		r->drop_count++;
	}
	qsort(r->drops, r->drop_count, sizeof(*r->drops), in_order);
	return 0;
}

/* Returns the number of drops of flows before this one; with `after`, those of this one too. */
static size_t before(const struct report *r, uint64_t sock, bool rx, bool after)
{
	size_t lo = 0, hi = r->drop_count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		int order = by_flow(sock, rx, r->drops[mid].d);

		if (order > 0 || (after && !order))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct flow_drop *report_drops_of(const struct report *r, uint64_t sock, bool rx, size_t *n)
{
	size_t first = before(r, sock, rx, false);

	*n = before(r, sock, rx, true) - first;
	return r->drops + first;
}
