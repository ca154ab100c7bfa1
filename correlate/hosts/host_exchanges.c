/* SPDX-License-Identifier: MIT */
#include "host_exchanges.h"

#include <stdlib.h>

#include "alloc.h"

#define KEPT_MAX 1000000 /* exchanges of a host, some 200 MB */

_Static_assert(CAUSE_PARTS *CAUSES < 256 && CAUSE_ENDS * CAUSES < 256, "kept_cause.cause");

/* Returns a list with room for one more; NULL without memory, and then it is as it was. */
static void *with_room(void *list, size_t n, size_t *room, size_t size)
{
	size_t more = n < *room ? *room : 2 * n + 16;
	void *grown = more == *room ? list : mg_realloc(list, more * size);

	if (grown)
		*room = more;
	return grown;
}

/* Adds the causes that took time; false without memory. */
static bool keep_causes(struct host_exchanges *h, const uint64_t time[CAUSES], int number)
{
	for (int i = 0; i < CAUSES; i++) {
		struct kept_cause *more;

		if (!time[i])
			continue;
		more = with_room(h->cause, h->causes, &h->cause_room, sizeof(*h->cause));
		if (!more)
			return false;
		h->cause = more;
		h->cause[h->causes++] = (struct kept_cause){
			.time = time[i], .cause = (uint8_t)(number * CAUSES + i)};
	}
	return true;
}

/* Keeps the causes of a client's ends, or of a server's parts; false without memory. */
static bool keep_all_causes(struct host_exchanges *h, const struct divided_exchange *d)
{
	bool kept = true;

	for (int i = 0; d->part && i < CAUSE_PARTS && kept; i++)
		kept = keep_causes(h, d->part[i].cause[END_OWN], i);
	for (int i = 0; !d->part && i < CAUSE_ENDS && kept; i++)
		kept = keep_causes(h, d->causes->cause[i], i);
	return kept;
}

void host_exchanges_add(void *arg, const struct divided_exchange *d)
{
	struct host_exchanges *h = arg;
	const struct exchange_causes *e = d->causes;
	const struct fact_exchange *f = d->fact;
	struct kept_exchange k = {.sock = f->request.sock,
		.request_offset = f->request_offset,
		.request_bytes = f->request_bytes,
		.reply_offset = f->reply_offset,
		.reply_bytes = f->reply_bytes,
		.begin = e->begin,
		.end = e->end,
		.waits = d->waits,
		.group = d->group,
		.half_closed = f->half_closed,
		.first = h->causes};
	struct kept_exchange *more;

	if (f->kind != MG_KIND_tcp)
		return;
	if (d->part) {
		k.read = d->part[UNTIL_READ].end;
		k.departed = d->part[AFTER_DEPARTURE].begin;
		k.departed_upto = d->part[AFTER_DEPARTURE].end;
	} else if (f->server_reply_first) { /* the server is in this recording */
		return;
	}
	h->full |= h->n >= KEPT_MAX;
	more = h->full ? NULL : with_room(h->v, h->n, &h->room, sizeof(*h->v));
	if (!more)
		return;
	h->v = more;
	if (!keep_all_causes(h, d))
		return;
	k.causes = (uint8_t)(h->causes - k.first);
	h->v[h->n++] = k;
}

void host_exchanges_resent(void *arg, const struct fact_resent *f)
{
	struct host_exchanges *h = arg;
	struct kept_resent *more;

	if (!f->begin || f->end <= f->begin)
		return;
	if (h->resents >= KEPT_MAX) {
		h->resents_full = true;
		return;
	}
	more = with_room(h->resent, h->resents, &h->resent_room, sizeof(*h->resent));
	if (!more)
		return;
	h->resent = more;
	h->resent[h->resents++] =
		(struct kept_resent){f->flow.sock, f->offset, f->length, f->begin, f->end};
}

static int by_request(const void *a, const void *b)
{
	const struct kept_exchange *x = a, *y = b;

	if (x->sock != y->sock)
		return x->sock < y->sock ? -1 : 1;
	return x->request_offset < y->request_offset ? -1 : x->request_offset > y->request_offset;
}

/* First copies are sent in the order of their offsets, so that these are in the order of time, too.
 */
static int by_offset(const void *a, const void *b)
{
	const struct kept_resent *x = a, *y = b;

	if (x->sock != y->sock)
		return x->sock < y->sock ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

void host_exchanges_sort(struct host_exchanges *h)
{
	if (h->n)
		qsort(h->v, h->n, sizeof(*h->v), by_request);
	if (h->resents)
		qsort(h->resent, h->resents, sizeof(*h->resent), by_offset);
}

const struct kept_exchange *host_exchanges_find(
	const struct host_exchanges *h, uint64_t sock, uint64_t request_offset)
{
	struct kept_exchange key = {.sock = sock, .request_offset = request_offset};

	return h->n ? bsearch(&key, h->v, h->n, sizeof(*h->v), by_request) : NULL;
}

void host_exchanges_free(struct host_exchanges *h)
{
	free(h->v);
	free(h->cause);
	free(h->resent);
}
