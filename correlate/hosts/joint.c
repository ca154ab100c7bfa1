/* SPDX-License-Identifier: MIT */
#include "joint.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "alloc.h"
#include "reported/answer.h"

static int by_client(const void *a, const void *b)
{
	const struct joint_sockets *x = a, *y = b;

	return x->client < y->client ? -1 : x->client > y->client;
}

static struct joint_group *group_of(struct joint *j, const struct joint_group *like)
{
	struct joint_group *more;

	for (size_t i = 0; i < j->n; i++)
		if (j->v[i].client == like->client && j->v[i].server == like->server)
			return &j->v[i];
	more = mg_realloc(j->v, (j->n + 1) * sizeof(*j->v)); /* there are few */
	if (!more)
		return NULL;
	j->v = more;
	j->v[j->n] = *like;
	return &j->v[j->n++];
}

/* Returns how many exchanges from `e` on have the client's request in all; 0 if they have others.
 */
static size_t same_request(const struct kept_exchange *client, const struct kept_exchange *e,
	const struct kept_exchange *end)
{
	uint64_t upto = client->request_offset, last = upto + client->request_bytes;
	size_t n = 0;

	for (; &e[n] < end && e[n].sock == e->sock && e[n].request_offset == upto && upto < last;
		n++) {
		if (e[n].group != e->group)
			return 0;
		upto += e[n].request_bytes;
	}
	return upto == last ? n : 0;
}

/*
 * Returns the server's exchanges with the same request and reply, and their number; NULL if it has
 * none, or has divided the bytes in another way.
 */
static const struct kept_exchange *other_end(const struct kept_exchange *client,
	const struct host_exchanges *answered, const struct joint_sockets *sockets, size_t n,
	size_t *number)
{
	struct joint_sockets pair = {.client = client->sock};
	const struct joint_sockets *found =
		n ? bsearch(&pair, sockets, n, sizeof(*sockets), by_client) : NULL;
	const struct kept_exchange *e =
		found ? host_exchanges_find(answered, found->server, client->request_offset) : NULL;

	*number = e ? same_request(client, e, answered->v + answered->n) : 0;
	return *number && e->group->key.role == ROLE_SERVER &&
			       e->reply_offset == client->reply_offset
		       ? e
		       : NULL;
}

int joint_add(struct joint *j, const struct joint_clocks *clocks, const struct report *client,
	const struct host_exchanges *asked, const struct report *server,
	const struct host_exchanges *answered, struct joint_sockets *sockets, size_t n)
{
	double rate = report_ns(server, 1) / report_ns(client, 1);
	struct joint_group *g = NULL;

	if (!isfinite(rate)) /* a clock is not known */
		return 0;
	if (n)
		qsort(sockets, n, sizeof(*sockets), by_client);
	for (size_t i = 0; i < asked->n; i++) {
		const struct kept_exchange *k = &asked->v[i];
		struct server_end far = {.host = answered, .rate = rate};
		struct exchange_causes both;

		if (k->group->key.role == ROLE_CLIENT)
			far.e = other_end(k, answered, sockets, n, &far.n);
		if (far.e && !joint_divide(asked, k, clocks, client, server, &far, &both)) {
			j->unrelated++;
			far.e = NULL;
		}
		if (!far.e)
			continue;
		if (!g || g->client != k->group || g->server != far.e->group)
			g = group_of(j, &(struct joint_group){.client_report = client,
						.server_report = server,
						.client = k->group,
						.server = far.e->group});
		if (!g)
			return -ENOMEM;
		causes_add(&g->causes, &both);
		g->time += both.end - both.begin;
		g->by_clocks += far.by_clocks;
		g->clock_half = fmax(g->clock_half, far.clock_half);
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
	} else if (!isfinite(report_ns(a, 1)) || !isfinite(report_ns(b, 1))) {
		j->of = isfinite(report_ns(a, 1)) ? b : a;
		j->why_none = "has no rate of its counter, without which durations are not known";
	} else if (!of_a->n || !of_b->n) {
		j->of = of_a->n ? b : a;
		j->why_none = "has no requests and replies whose time is divided: record it with "
			      "the layers syscall, tcp and device";
	} else if (j->unrelated) {
		j->why_none = "the relation of the hosts' clocks is needed, as the ends divide the "
			      "bytes differently, and is not known";
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
