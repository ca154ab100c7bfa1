/* SPDX-License-Identifier: MIT */
#include "joint.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "reported/answer.h"

#define KEPT_MAX 1000000 /* exchanges of a host, some 200 MB */

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
		.first = h->causes};
	struct kept_exchange *more;

	if (d->part) {
		k.departed = d->part[AFTER_DEPARTURE].begin;
		k.departed_upto = d->part[AFTER_DEPARTURE].end;
	} else if (!e->cause[END_OWN][CAUSE_AWAY]) { /* the server is in this recording */
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
	h->full |= h->resents >= KEPT_MAX;
	more = h->full ? NULL
		       : with_room(h->resent, h->resents, &h->resent_room, sizeof(*h->resent));
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

static int by_begin(const void *a, const void *b)
{
	const struct kept_resent *x = a, *y = b;

	if (x->sock != y->sock)
		return x->sock < y->sock ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

void host_exchanges_sort(struct host_exchanges *h)
{
	if (h->n)
		qsort(h->v, h->n, sizeof(*h->v), by_request);
	if (h->resents)
		qsort(h->resent, h->resents, sizeof(*h->resent), by_begin);
}

void host_exchanges_free(struct host_exchanges *h)
{
	free(h->v);
	free(h->cause);
	free(h->resent);
}

/* ---- both ends of one exchange ---- */

/* An exchange as the server's host knows it; one of its cycles is `rate` of the client's host. */
struct far_end {
	const struct kept_exchange *e;
	const struct host_exchanges *host;
	double rate;
	uint64_t first_lost; /* until the reply's first byte was sent for the last time, cycles of
			      * the client's host */
	uint64_t rest_lost;  /* from then on, until the last of its other bytes was */
};

static uint64_t cycles(const struct far_end *far, uint64_t time)
{
	return (uint64_t)((double)time * far->rate + 0.5);
}

/* Returns the first of what a socket sent again; the number of all if there is none. */
static size_t first_resent(const struct host_exchanges *h, uint64_t sock)
{
	size_t low = 0, high = h->resents;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (h->resent[middle].sock < sock)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Fills in how long the reply's bytes waited for their last copies: times that overlap count once.
 */
static void find_lost(struct far_end *far)
{
	const struct kept_exchange *e = far->e;
	uint64_t upto = e->departed, rest = 0;

	for (size_t i = first_resent(far->host, e->sock);
		i < far->host->resents && far->host->resent[i].sock == e->sock; i++) {
		const struct kept_resent *r = &far->host->resent[i];

		if (e->reply_offset - r->offset < r->length && r->end > upto)
			upto = r->end;
	}
	far->first_lost = cycles(far, upto - e->departed);
	for (size_t i = first_resent(far->host, e->sock);
		i < far->host->resents && far->host->resent[i].sock == e->sock; i++) {
		const struct kept_resent *r = &far->host->resent[i];
		uint64_t from = r->begin > upto ? r->begin : upto;

		if (r->offset + r->length <= e->reply_offset ||
			r->offset >= e->reply_offset + e->reply_bytes || r->end <= from)
			continue;
		rest += r->end - from;
		upto = r->end;
	}
	far->rest_lost = cycles(far, rest);
}

/* Moves time from one cause to another. Returns how much. */
static uint64_t move(struct exchange_causes *e, enum cause from, enum cause_end end, enum cause to,
	uint64_t time)
{
	uint64_t *have = &e->cause[END_OWN][from];

	if (time > *have)
		time = *have;
	*have -= time;
	e->cause[end][to] += time;
	return time;
}

/*
 * Gives the server's causes of a part their share of the client's time `from`. The causes in
 * `except` are left out.
 */
static void give_part(struct exchange_causes *e, enum cause from, const struct far_end *far,
	enum cause_part part, uint32_t except, double share)
{
	for (uint32_t i = 0; i < far->e->causes; i++) {
		const struct kept_cause *c = &far->host->cause[far->e->first + i];
		enum cause cause = (enum cause)(c->cause % CAUSES);
		enum cause_end end = cause == CAUSE_LOST ? END_OWN : END_FAR;

		if (c->cause / CAUSES == part && !(except & 1u << cause))
			move(e, from, end, cause,
				(uint64_t)((double)cycles(far, c->time) * share + 0.5));
	}
}

/*
 * Divides the time between the request's departure and the reply's arrival. What retransmissions of
 * the request took of it is known by the client alone. They may have been for nothing: the request
 * was there, and only its acknowledgement missing. Then less is left of the time than they took.
 */
static void divide_away(
	struct exchange_causes *e, const struct client_waits *waits, const struct far_end *far)
{
	uint64_t *away = &e->cause[END_OWN][CAUSE_AWAY];

	move(e, CAUSE_LOST, END_OWN, CAUSE_AWAY, waits->lost);
	give_part(e, CAUSE_AWAY, far, UNTIL_DEPARTURE, 0, 1);
	give_part(e, CAUSE_AWAY, far, UNTIL_READ, 0, 1);
	move(e, CAUSE_AWAY, END_OWN, CAUSE_LOST, far->first_lost);
	if (waits->lost <= *away)
		move(e, CAUSE_AWAY, END_OWN, CAUSE_LOST, waits->lost);
	move(e, CAUSE_AWAY, END_OWN, CAUSE_NETWORK, *away);
}

/*
 * Divides the time in which the rest of the reply arrived. The server's time from the departure of
 * the first byte on is the client's from its arrival on; what the client did not read at once, and
 * what the first byte's last copy came later, is past then.
 */
static void divide_arriving(
	struct exchange_causes *e, const struct client_waits *waits, const struct far_end *far)
{
	uint64_t sends = cycles(far, far->e->departed_upto - far->e->departed);
	uint64_t past = waits->late + far->first_lost, upto = past + waits->arriving;
	double share = 0;
	uint64_t lost;

	if (sends > past)
		share = (double)((sends < upto ? sends : upto) - past) / (double)sends;
	lost = move(e, CAUSE_ORDER, END_OWN, CAUSE_LOST, far->rest_lost);
	give_part(e, CAUSE_ARRIVING, far, AFTER_DEPARTURE, ~(1u << CAUSE_QDISC), share);
	move(e, CAUSE_ARRIVING, END_OWN, CAUSE_LOST, far->rest_lost - lost);
	/* while bytes pass the server's stack, others are on the network */
	give_part(e, CAUSE_ARRIVING, far, AFTER_DEPARTURE,
		1u << CAUSE_QDISC | 1u << CAUSE_LOST | 1u << CAUSE_STACK, share);
}

static void join(const struct host_exchanges *asked, const struct kept_exchange *k,
	struct far_end *far, struct exchange_causes *e)
{
	*e = (struct exchange_causes){.begin = k->begin, .end = k->end};
	for (uint32_t i = 0; i < k->causes; i++) {
		const struct kept_cause *c = &asked->cause[k->first + i];

		e->cause[c->cause / CAUSES][c->cause % CAUSES] = c->time;
	}
	find_lost(far);
	divide_away(e, &k->waits, far);
	divide_arriving(e, &k->waits, far);
}

/* ---- all of them ---- */

static int by_client(const void *a, const void *b)
{
	const struct joint_sockets *x = a, *y = b;

	return x->client < y->client ? -1 : x->client > y->client;
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

/*
 * Returns the server's exchange with the same request and reply; NULL if it has none, or has
 * divided the bytes in another way.
 */
static const struct kept_exchange *other_end(const struct kept_exchange *client,
	const struct host_exchanges *answered, const struct joint_sockets *sockets, size_t n)
{
	struct joint_sockets pair = {.client = client->sock};
	const struct joint_sockets *found =
		n ? bsearch(&pair, sockets, n, sizeof(*sockets), by_client) : NULL;
	struct kept_exchange key = {.request_offset = client->request_offset};
	const struct kept_exchange *e;

	if (!found || !answered->n)
		return NULL;
	key.sock = found->server;
	e = bsearch(&key, answered->v, answered->n, sizeof(*answered->v), by_request);
	return e && e->group->key.role == ROLE_SERVER &&
			       e->request_bytes == client->request_bytes &&
			       e->reply_offset == client->reply_offset
		       ? e
		       : NULL;
}

int joint_add(struct joint *j, const struct report *client, const struct host_exchanges *asked,
	const struct report *server, const struct host_exchanges *answered,
	struct joint_sockets *sockets, size_t n)
{
	double rate = report_ns(server, 1) / report_ns(client, 1);
	struct joint_group *g = NULL;

	if (!isfinite(rate)) /* a clock is not known */
		return 0;
	if (n)
		qsort(sockets, n, sizeof(*sockets), by_client);
	for (size_t i = 0; i < asked->n; i++) {
		const struct kept_exchange *k = &asked->v[i];
		const struct kept_exchange *there = k->group->key.role == ROLE_CLIENT
							    ? other_end(k, answered, sockets, n)
							    : NULL;
		struct far_end far = {.e = there, .host = answered, .rate = rate};
		struct exchange_causes both;

		if (!there)
			continue;
		if (!g || g->client != k->group || g->server != there->group)
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

/* Returns the sum of the whole times, cycles. */
static uint64_t whole_time(const struct cause_bins *b)
{
	uint64_t sum = 0;

	for (int i = 0; b && i < CAUSE_BINS; i++)
		sum += b->bin[i] ? b->bin[i]->time : 0;
	return sum;
}

/* Less of the time of a client's exchanges is not taken for all of it. */
#define NEARLY_ALL 0.9

void joint_finish(struct joint *j)
{
	if (j->n)
		qsort(j->v, j->n, sizeof(*j->v), longest_first);
	for (size_t i = 0; i < j->n; i++) {
		struct joint_group *g = &j->v[i];
		uint64_t all = whole_time(g->client->causes);

		g->share = all ? (double)g->time / (double)all : 0;
		for (size_t k = 0; k < j->n; k++)
			if (j->v[k].client == g->client && j->v[k].causes)
				g->of_client += j->v[k].causes->n;
		if (g->share >= NEARLY_ALL)
			g->client->together = i ? TOGETHER : TOGETHER_FIRST;
	}
}

void joint_explain(struct joint *j, size_t connections, const struct report *a,
	const struct host_exchanges *of_a, const struct report *b,
	const struct host_exchanges *of_b)
{
	if (j->n)
		return;
	if (!core_knows_states(a->core) || !core_knows_states(b->core)) {
		j->of = core_knows_states(a->core) ? b : a;
		j->why_none = "has no states of TCP connections, by which both ends are matched: "
			      "record it with the default layers";
	} else if (!connections) {
		j->why_none = "no TCP connection has its opening in both recordings (other sockets "
			      "are not matched)";
	} else if (!of_a->n || !of_b->n) {
		j->of = of_a->n ? b : a;
		j->why_none = "has no requests and replies whose time is divided: record it with "
			      "the layers syscall, tcp and device";
	} else {
		j->why_none = "no request and reply have the same bytes at both ends";
	}
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
