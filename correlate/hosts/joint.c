/* SPDX-License-Identifier: MIT */
#include "joint.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "reported/answer.h"

#define KEPT_MAX 1000000 /* exchanges of a host, some 150 MB */

_Static_assert(CAUSE_PARTS *CAUSES < 256 && CAUSE_ENDS * CAUSES < 256, "kept_cause.cause");

/* ---- what is kept of a host ---- */

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

void host_exchanges_add(void *arg, const struct divided_exchange *d)
{
	struct host_exchanges *h = arg;
	const struct exchange_causes *e = d->causes;
	struct kept_exchange k = {.sock = d->fact->request.sock,
		.request_offset = d->fact->request_offset,
		.begin = e->begin,
		.end = e->end,
		.group = d->group,
		.first = h->causes};
	struct kept_exchange *more;

	if (!d->part && !e->cause[END_OWN][CAUSE_AWAY]) /* the server is in this recording */
		return;
	h->full |= h->n >= KEPT_MAX;
	more = h->full ? NULL : with_room(h->v, h->n, &h->room, sizeof(*h->v));
	if (!more)
		return;
	h->v = more;
	for (int i = 0; i < 2; i++)
		if (!keep_causes(h, d->part ? d->part[i].cause[END_OWN] : e->cause[i], i))
			return;
	k.causes = (uint8_t)(h->causes - k.first);
	h->v[h->n++] = k;
}

void host_exchanges_free(struct host_exchanges *h)
{
	free(h->v);
	free(h->cause);
}

/* ---- both ends of one exchange ---- */

/* A server's division of an exchange, and its cycles in those of the client's host. */
struct far_division {
	const struct kept_exchange *e;
	const struct kept_cause *cause;
	double rate;
};

/*
 * Divides what the client calls `what` by the server's causes of this part; what they leave of it
 * becomes `rest`.
 */
static void divide(struct exchange_causes *e, enum cause what, enum cause rest,
	const struct far_division *far, enum cause_part part)
{
	uint64_t left = e->cause[END_OWN][what];

	e->cause[END_OWN][what] = 0;
	for (uint32_t i = 0; i < far->e->causes; i++) {
		const struct kept_cause *c = &far->cause[far->e->first + i];
		enum cause cause = (enum cause)(c->cause % CAUSES);
		uint64_t time = (uint64_t)((double)c->time * far->rate + 0.5);

		/* while bytes pass the server's stack, others are on the network */
		if (c->cause / CAUSES != part || (part == AFTER_DEPARTURE && cause == CAUSE_STACK))
			continue;
		time = time < left ? time : left;
		e->cause[cause == CAUSE_LOST ? END_OWN : END_FAR][cause] += time;
		left -= time;
	}
	e->cause[END_OWN][rest] += left;
}

static void join(const struct host_exchanges *asked, const struct kept_exchange *k,
	const struct far_division *far, struct exchange_causes *e)
{
	*e = (struct exchange_causes){.begin = k->begin, .end = k->end};
	for (uint32_t i = 0; i < k->causes; i++) {
		const struct kept_cause *c = &asked->cause[k->first + i];

		e->cause[c->cause / CAUSES][c->cause % CAUSES] = c->time;
	}
	divide(e, CAUSE_AWAY, CAUSE_NETWORK, far, BEFORE_DEPARTURE);
	divide(e, CAUSE_ARRIVING, CAUSE_ARRIVING, far, AFTER_DEPARTURE);
}

/* ---- all of them ---- */

static int by_client(const void *a, const void *b)
{
	const struct joint_sockets *x = a, *y = b;

	return x->client < y->client ? -1 : x->client > y->client;
}

static int by_request(const void *a, const void *b)
{
	const struct kept_exchange *x = a, *y = b;

	if (x->sock != y->sock)
		return x->sock < y->sock ? -1 : 1;
	return x->request_offset < y->request_offset ? -1 : x->request_offset > y->request_offset;
}

static struct joint_group *group_of(struct joint *j, const struct joint_group *like)
{
	struct joint_group *more;
	size_t room = j->n; /* there are few */

	for (size_t i = 0; i < j->n; i++)
		if (j->v[i].client == like->client && j->v[i].server == like->server)
			return &j->v[i];
	more = with_room(j->v, j->n, &room, sizeof(*j->v));
	if (!more)
		return NULL;
	j->v = more;
	j->v[j->n] = *like;
	return &j->v[j->n++];
}

/* Returns the server's exchange with the same request; NULL if it has none. */
static const struct kept_exchange *other_end(const struct kept_exchange *client,
	const struct host_exchanges *answered, const struct joint_sockets *sockets, size_t n)
{
	struct joint_sockets pair = {.client = client->sock}, *found;
	struct kept_exchange key = {.request_offset = client->request_offset};

	found = n ? bsearch(&pair, sockets, n, sizeof(*sockets), by_client) : NULL;
	if (!found || !answered->n)
		return NULL;
	key.sock = found->server;
	return bsearch(&key, answered->v, answered->n, sizeof(*answered->v), by_request);
}

int joint_add(struct joint *j, const struct report *client, const struct host_exchanges *asked,
	const struct report *server, struct host_exchanges *answered, struct joint_sockets *sockets,
	size_t n)
{
	double rate = report_ns(server, 1) / report_ns(client, 1);

	if (!isfinite(rate)) /* a clock is not known */
		return 0;
	qsort(sockets, n, sizeof(*sockets), by_client);
	if (answered->n)
		qsort(answered->v, answered->n, sizeof(*answered->v), by_request);
	for (size_t i = 0; i < asked->n; i++) {
		const struct kept_exchange *k = &asked->v[i];
		const struct kept_exchange *there = k->group->key.role == ROLE_CLIENT
							    ? other_end(k, answered, sockets, n)
							    : NULL;
		struct far_division far = {there, answered->cause, rate};
		struct exchange_causes both;
		struct joint_group *g;

		if (!there || there->group->key.role != ROLE_SERVER)
			continue;
		g = group_of(j, &(struct joint_group){.client_report = client,
					.server_report = server,
					.client = k->group,
					.server = there->group});
		if (!g)
			return -ENOMEM;
		join(asked, k, &far, &both);
		causes_add(&g->causes, &both);
		g->time += both.end - both.begin;
	}
	return 0;
}

static int longest_first(const void *a, const void *b)
{
	const struct joint_group *x = a, *y = b;
	double s = report_ns(x->client_report, (double)x->time);
	double t = report_ns(y->client_report, (double)y->time);

	return s < t ? 1 : -(s > t);
}

void joint_sort(struct joint *j)
{
	if (j->n)
		qsort(j->v, j->n, sizeof(*j->v), longest_first);
}

void joint_free(struct joint *j)
{
	for (size_t i = 0; i < j->n; i++)
		causes_free(j->v[i].causes);
	free(j->v);
}

bool joint_column(const struct joint_group *g, uintptr_t *at, struct answer_column_figures *to)
{
	*to = (struct answer_column_figures){.r = g->client_report,
		.g = g->client,
		.role = ROLE_CLIENT,
		.kind = g->client->key.kind,
		.port = g->client->key.port,
		.server = g->server,
		.server_report = g->server_report};
	return next_answer_column(g->causes, at, to);
}
