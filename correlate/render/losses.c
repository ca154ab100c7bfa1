/* SPDX-License-Identifier: MIT */
#include "losses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "event_table.h"
#include "report.h"

bool drop_sums_add(struct drop_sums *all, const struct drop *d)
{
	struct drop_sum *x;

	for (size_t i = 0; i < all->n; i++) {
		x = &all->v[i];
		if (x->rx == d->key.rx && strcmp(x->reason, d->key.reason) == 0 &&
			strcmp(x->location, d->key.location) == 0)
			goto found;
	}
	x = mg_realloc(all->v, (all->n + 1) * sizeof(*x));
	if (!x)
		return false;
	all->v = x;
	x += all->n++;
	*x = (struct drop_sum){.rx = d->key.rx,
		.reason = d->key.reason,
		.location = d->key.location,
		.layer = d->layer};
found:
	x->n += d->n;
	x->segs += d->segs;
	x->bytes += d->bytes;
	x->discarded += d->discarded;
	return true;
}

static int more(const void *a, const void *b)
{
	const struct drop_sum *x = a, *y = b;
	int by_name;

	if (x->segs != y->segs)
		return x->segs < y->segs ? 1 : -1;
	by_name = strcmp(x->reason, y->reason);
	return by_name ? by_name : strcmp(x->location, y->location);
}

void drop_sums_sort(struct drop_sums *all)
{
	if (all->n)
		qsort(all->v, all->n, sizeof(*all->v), more);
}

void drop_sums_free(struct drop_sums *all)
{
	free(all->v);
	*all = (struct drop_sums){0};
}

uint64_t drop_sum_lost(const struct drop_sum *d)
{
	return d->segs - d->discarded;
}

uint64_t drop_sums_lost(const struct drop_sums *all)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < all->n; i++)
		lost += drop_sum_lost(&all->v[i]);
	return lost;
}

bool drop_sum_is_copy(const struct drop_sum *d)
{
	static const char *const reasons[] = {
		"TCP_OLD_DATA", "TCP_RFC7323_PAWS", "TCP_OLD_SEQUENCE"};

	for (size_t i = 0; d->reason && i < sizeof(reasons) / sizeof(reasons[0]); i++)
		if (strcmp(d->reason, reasons[i]) == 0)
			return true;
	return false;
}

bool drop_sum_no_socket(const struct drop_sum *d)
{
	return !d->bytes && strcmp(d->reason, "NO_SOCKET") == 0 && d->layer &&
	       strcmp(d->layer, "tcp") == 0;
}

bool losses_may_miss(const struct report *r, struct mg_events events)
{
	struct fact_loss loss;
	uintptr_t at = 0;

	while (core_next_loss(r->core, &at, &loss))
		if (mg_events_meet(loss.missing, events))
			return true;
	return false;
}

bool losses_know_synacks(const struct report *r)
{
	struct fact_hook hook;
	uintptr_t at = 0;

	while (core_next_hook(r->core, &at, &hook))
		if (hook.status == 0 && strcmp(hook.hook, "tcp_retransmit synack") == 0)
			return true;
	return r->recording.synack_retries;
}

/* Adds what TCP did about losses of a sending flow. Returns whether it did anything. */
static bool add_tcp(struct losses *l, const struct fact_flow *tx)
{
	const struct tcp_record *t = measures_tcp(tx);

	l->retransmits += tx->retransmits;
	l->retransmitted_bytes += tx->retransmitted;
	l->resent_bytes += flow_resent(tx);
	l->syn_retries += tx->syn_retries;
	if (measures(tx)->resent)
		dist_add_all(&l->wait, &measures(tx)->resent->wait);
	if (t) {
		l->timeouts += t->timeouts;
		l->resets_sent += t->resets_sent;
		l->resets_received += t->resets_received;
	}
	return tx->retransmits || tx->synack_retries || flow_resent(tx) ||
	       (t && (t->timeouts || t->resets_sent || t->resets_received));
}

static bool is_shown(const struct taken_socket *s)
{
	return (s->has[0] && flow_is_shown(&s->flow[0])) ||
	       (s->has[1] && flow_is_shown(&s->flow[1]));
}

static bool has_drops(const struct taken_socket *s)
{
	bool any = false;

	for (int i = 0; i < 2; i++)
		any |= s->has[i] && s->flow[i].dropped > s->flow[i].discarded;
	return any;
}

bool losses_take_socket(struct core *c, struct taken_socket *s)
{
	for (int i = 0; i < 2; i++)
		s->has[i] = figures_take_flow(c, &s->flow[i]);
	return s->has[0] || s->has[1];
}

/* Finds the socket at the other end. Returns false if it is not recorded, or the filter refuses it.
 */
static bool take_peer(struct core *c, uint64_t sock, struct taken_socket *peer)
{
	return sock && core_flow(c, sock, false, &peer->flow[0]) &&
	       core_flow(c, sock, true, &peer->flow[1]) && losses_take_socket(c, peer);
}

/* Adds the losses of one end of a connection. Returns whether it has any. */
static bool add_end(struct losses *l, const struct taken_socket *s)
{
	bool hit = has_drops(s);

	/* what TCP sends again, and its timeouts and resets, are the sending flow's */
	return (s->has[0] && add_tcp(l, &s->flow[0])) || hit;
}

void losses_add_socket(struct losses *l, struct core *c, const struct taken_socket *s)
{
	const struct fact_flow *tx = &s->flow[0];
	struct taken_socket peer;
	bool hit, has_peer;

	if (tx->kind != MG_KIND_tcp) {
		if (!is_shown(s))
			return;
		l->sockets++;
		l->sockets_hit += has_drops(s);
		return;
	}
	if (!tx->opened && !flow_remote_port(tx) && !is_shown(s))
		return; /* it is no connection */
	has_peer = take_peer(c, tx->peer_sock, &peer);
	if (has_peer && tx->peer_sock < tx->flow.sock)
		return; /* it is counted with its peer */
	hit = add_end(l, s);
	if (has_peer)
		hit |= add_end(l, &peer);
	l->connections++;
	l->connections_hit += hit;
}

int losses_add_drops(struct losses *l, const struct core *c, const struct fact_recording *r)
{
	const struct drop *d, *dtmp;

	HASH_ITER (hh, figures_of(c)->drops, d, dtmp) {
		if (!drop_sums_add(&l->drops, d))
			return -ENOMEM;
	}
	drop_sums_sort(&l->drops);
	l->dropped = drop_sums_lost(&l->drops);
	l->listen_drops = r->listen_drops;
	l->synack_retries = r->synack_retries;
	l->retransmits += r->synack_retries;
	return 0;
}

void losses_free(struct losses *l)
{
	drop_sums_free(&l->drops);
	dist_free(&l->wait);
}
