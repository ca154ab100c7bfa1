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

/* Adds the losses of one end of a connection. Returns whether it has any. */
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

static bool are_shown(const struct fact_flow *tx, const struct fact_flow *rx)
{
	return flow_is_shown(tx) || flow_is_shown(rx);
}

static bool have_drops(const struct fact_flow *tx, const struct fact_flow *rx)
{
	return tx->dropped + rx->dropped > tx->discarded + rx->discarded;
}

void losses_add_socket(
	struct losses *l, struct core *c, const struct fact_flow *tx, const struct fact_flow *rx)
{
	struct fact_flow peer_tx, peer_rx;
	bool hit = have_drops(tx, rx), has_peer;

	if (tx->kind != MG_KIND_tcp) {
		if (!are_shown(tx, rx))
			return;
		l->sockets++;
		l->sockets_hit += hit;
		return;
	}
	if (!tx->opened && !flow_remote_port(tx) && !are_shown(tx, rx))
		return; /* it is no connection */
	has_peer = tx->peer_sock && core_flow(c, tx->peer_sock, false, &peer_tx) &&
		   core_flow(c, tx->peer_sock, true, &peer_rx) && figures_take_flow(c, &peer_tx) &&
		   figures_take_flow(c, &peer_rx);
	if (has_peer && tx->peer_sock < tx->flow.sock)
		return; /* it is counted with its peer */
	hit |= add_tcp(l, tx);
	if (has_peer)
		hit |= add_tcp(l, &peer_tx) | have_drops(&peer_tx, &peer_rx);
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
