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

bool losses_may_miss(const struct report *r, struct mg_events events)
{
	for (uint32_t i = 0; i < r->core->losses.gap_count; i++)
		if (mg_events_meet(r->core->losses.gaps[i].events, events))
			return true;
	return false;
}

bool losses_know_synacks(const struct report *r)
{
	for (uint32_t i = 0; i < r->core->probes.hook_count; i++)
		if (r->core->probes.hooks[i].status == 0 &&
			strcmp(r->core->probes.hooks[i].what, "tcp_retransmit synack") == 0)
			return true;
	return r->core->requests.synack_retries;
}

/* Adds the losses of one end of a connection. Returns whether it has any. */
static bool add_tcp(struct losses *l, const struct mg_sock *s)
{
	const struct flow *tx = &s->tx;
	const struct tcp_record *t = measures_tcp(s);

	l->retransmits += tx->retried.segments;
	l->retransmitted_bytes += tx->copies.retransmitted;
	l->resent_bytes += flow_resent(tx);
	l->syn_retries += tx->retried.syn;
	if (measures(tx)->resent)
		dist_add_all(&l->wait, &measures(tx)->resent->wait);
	if (t) {
		l->timeouts += t->timeouts;
		l->resets_sent += t->resets_sent;
		l->resets_received += t->resets_received;
	}
	return tx->retried.segments || tx->retried.synack || flow_resent(tx) ||
	       (t && (t->timeouts || t->resets_sent || t->resets_received));
}

static bool is_connection(const struct mg_sock *s)
{
	return s->met.opened || s->rport || flow_is_told(&s->tx) || flow_is_told(&s->rx);
}

static bool has_drops(const struct mg_sock *s)
{
	return s->tx.drops.n + s->rx.drops.n > s->tx.drops.discarded + s->rx.drops.discarded;
}

void losses_add_socket(struct losses *l, const struct mg_sock *s)
{
	const struct mg_sock *peer = s->kind == MG_KIND_tcp ? s->peer : NULL;
	bool hit = has_drops(s);

	if (s->kind != MG_KIND_tcp) {
		if (!flow_is_told(&s->tx) && !flow_is_told(&s->rx))
			return;
		l->sockets++;
		l->sockets_hit += hit;
		return;
	}
	if (!is_connection(s) || (peer && peer->cookie < s->cookie)) /* counted with its peer */
		return;
	hit |= add_tcp(l, s);
	if (peer)
		hit |= add_tcp(l, peer) | has_drops(peer);
	l->connections++;
	l->connections_hit += hit;
}

int losses_add_drops(struct losses *l, const struct core *c)
{
	const struct drop *d, *dtmp;

	HASH_ITER (hh, figures_of(c)->drops, d, dtmp) {
		if (!drop_sums_add(&l->drops, d))
			return -ENOMEM;
	}
	drop_sums_sort(&l->drops);
	l->dropped = drop_sums_lost(&l->drops);
	l->listen_drops = c->requests.listen_drops;
	l->synack_retries = c->requests.synack_retries;
	l->retransmits += c->requests.synack_retries;
	return 0;
}

void losses_free(struct losses *l)
{
	drop_sums_free(&l->drops);
	dist_free(&l->wait);
}
