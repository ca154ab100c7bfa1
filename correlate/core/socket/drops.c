/* SPDX-License-Identifier: MIT */
/* Counts the kernel's drops by socket, direction, reason and place. */
#include "socket/drops.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "message/datagram_rx.h"
#include "message/datagram_tx.h"
#include "socket/request.h"
#include "socket/socket.h"
#include "task/threads.h"

/* Limit of drop kinds that are counted per socket; later kinds are counted without their socket. */
#define DROPS_MAX 100000

/* Returns the counter of a kind of drop; NULL if memory is short. */
static struct drop *drop_of(struct core *c, struct drop_key *key)
{
	struct drop *d = NULL;

	HASH_FIND(hh, c->drops, key, sizeof(*key), d);
	if (!d && key->sock && HASH_COUNT(c->drops) >= DROPS_MAX) {
		key->sock = 0;
		return drop_of(c, key);
	}
	if (d)
		return d;
	d = mg_calloc(1, sizeof(*d));
	if (!d)
		return NULL;
	d->key = *key;
	HASH_ADD(hh, c->drops, key, sizeof(d->key), d);
	return hash_kept(d);
}

/*
 * Returns whether TCP discarded a segment that is of no use to it, for example after a connection
 * has ended. Without payload nothing is lost.
 */
static bool is_discarded(const struct drop *d, const struct mg_drop *p)
{
	const char *layer = p->len ? NULL : drop_layer(d);

	return layer && strcmp(layer, "tcp") == 0 && strcmp(d->key.reason, "NO_SOCKET") != 0;
}

static void tell(const struct core *c, const struct mg_sock *s, const struct drop *d,
	const struct mg_event *e)
{
	struct fact_drop f = {.time = e->cycles,
		.received = e->drop.rx,
		.layer = drop_layer(d),
		.reason = d->key.reason,
		.location = d->key.location,
		.segments = e->drop.segs,
		.payload = e->drop.len,
		.cpu = e->cpu};

	if (s)
		f.flow = flow_fact(e->drop.rx ? &s->rx : &s->tx);
	emit_drop(&c->facts, &f);
}

void drop_on_event(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a)
{
	const struct mg_drop *p = &e->drop;
	struct mg_sock *s = sock_get(c, p->sock);
	struct drop_key key;
	uint64_t discarded;
	struct drop *d;

	if (!s && request_on_drop(c, e))
		return;
	a->sock = s;
	a->rx = p->rx;
	a->length = p->len;
	memset(&key, 0, sizeof(key));
	key.sock = s ? s->cookie : p->sock;
	key.rx = p->rx;
	memcpy(key.reason, p->reason, sizeof(key.reason) - 1);
	memcpy(key.location, p->location, sizeof(key.location) - 1);
	d = drop_of(c, &key);
	if (!d)
		return;
	if (s && s->kind != MG_KIND_tcp && p->rx)
		datagram_drop_in(s, e);
	else if (s && s->kind != MG_KIND_tcp)
		datagram_drop_out(c, t, s, p);
	discarded = is_discarded(d, p) ? p->segs : 0;
	if (s) {
		struct flow *f = p->rx ? &s->rx : &s->tx;

		f->dropped += p->segs;
		f->discarded += discarded;
	}
	if (facts_wanted(&c->facts, FACT_drop))
		tell(c, s, d, e);
	d->discarded += discarded;
	d->n++;
	d->segs += p->segs;
	d->bytes += p->len;
}

/* Finds the layer from the names of the kernel's functions. */
const char *drop_layer(const struct drop *d)
{
	static const struct {
		const char *begins, *layer;
	} names[] = {
		{"tcp_", "tcp"},
		{"udp", "udp"},
		{"__udp", "udp"},
		{"sock_", "socket"},
		{"__sock_", "socket"},
		{"sk_", "socket"},
		{"__sk_", "socket"},
		{"unix_", "socket"},
		{"raw", "socket"},
		{"nf_", "netfilter"},
		{"nft_", "netfilter"},
		{"ipvlan", "device"},
		{"ip", "ip"},
		{"__ip", "ip"},
		{"xfrm", "ip"},
		{"esp", "ip"},
		{"icmp", "ip"},
		{"neigh", "neighbour"},
		{"__neigh", "neighbour"},
		{"arp", "neighbour"},
		{"ndisc", "neighbour"},
		{"tc_", "qdisc"},
		{"tcf_", "qdisc"},
		{"qdisc", "qdisc"},
		{"__qdisc", "qdisc"},
		{"tbf", "qdisc"},
		{"sch_", "qdisc"},
		{"fq", "qdisc"},
		{"htb", "qdisc"},
		{"netem", "qdisc"},
		{"sfq_", "qdisc"},
		{"red_", "qdisc"},
		{"codel", "qdisc"},
		{"drop_func", "qdisc"}, /* codel's and fq_codel's */
		{"pie_", "qdisc"},
		{"cake_", "qdisc"},
		{"prio_", "qdisc"},
		{"__dev_queue_xmit", "qdisc"},
		{"__netif", "device"},
		{"netif", "device"},
		{"net_", "device"},
		{"__dev", "device"},
		{"dev_", "device"},
		{"veth", "device"},
		{"vlan_", "device"},
		{"macvlan", "device"},
		{"bond_", "device"},
		{"team_", "device"},
		{"tun_", "device"},
		{"tap_", "device"},
		{"do_xdp_generic", "device"},
		{"enqueue_to_backlog", "device"},
		{"skb_", NULL},
	};

	/* a reason may say more than the name of a shared helper */
	if (strncmp(d->key.reason, "QDISC", 5) == 0 || strncmp(d->key.reason, "TC_", 3) == 0)
		return "qdisc";
	if (strncmp(d->key.reason, "NETFILTER", 9) == 0)
		return "netfilter";
	if (strncmp(d->key.reason, "NEIGH", 5) == 0)
		return "neighbour";
	if (strncmp(d->key.reason, "SOCKET", 6) == 0)
		return "socket";
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(d->key.location, names[i].begins, strlen(names[i].begins)) == 0)
			return names[i].layer;
	return NULL;
}

void drops_free(struct core *c)
{
	struct drop *d, *tmp;

	HASH_ITER (hh, c->drops, d, tmp) {
		HASH_DEL(c->drops, d);
		free(d);
	}
}
