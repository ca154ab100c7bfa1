/* SPDX-License-Identifier: MIT */
/* Counts and tells the kernel's drops: whose packet it was, and in which layer. */
#include "socket/drops.h"

#include <string.h>

#include "core.h"
#include "event_table.h"
#include "socket/socket.h"

/*
 * Returns whether TCP discarded a segment that is of no use to it, for example after a connection
 * has ended. Without payload nothing is lost.
 */
static bool is_discarded(const struct fact_drop *f)
{
	return !f->payload && f->layer && strcmp(f->layer, "tcp") == 0 &&
	       strcmp(f->reason, "NO_SOCKET") != 0;
}

/*
 * Returns whether it is a packet that the token bucket had cut into segments, which its queue has
 * all refused: each of them has a drop of its own.
 */
static bool is_cut_packet(const struct fact_drop *f)
{
	return strcmp(f->reason, "NOT_SPECIFIED") == 0 && strncmp(f->location, "tbf_", 4) == 0;
}

void drop_tell(struct core *c, struct mg_sock *s, const struct mg_event *e)
{
	char reason[sizeof(e->drop.reason) + 1] = "", location[sizeof(e->drop.location) + 1] = "";
	const struct mg_drop *p = &e->drop;
	struct fact_drop f = {.time = e->cycles,
		/* a request to connect is no socket */
		.flow = {p->sock & MG_REQUEST_ID ? 0 : p->sock, p->rx},
		.received = p->rx,
		.reason = reason,
		.location = location,
		.segments = p->segs,
		.payload = p->len,
		.cpu = e->cpu};

	memcpy(reason, p->reason, sizeof(p->reason));
	memcpy(location, p->location, sizeof(p->location));
	if (is_cut_packet(&f))
		return;
	f.layer = drop_layer(reason, location);
	f.discarded = is_discarded(&f) ? p->segs : 0;
	if (s) {
		struct flow *flow = p->rx ? &s->rx : &s->tx;

		f.flow = flow_fact(flow);
		flow_lives(flow, e->cycles);
		flow->drops.n += p->segs;
		flow->drops.discarded += f.discarded;
	}
	emit_drop(&c->facts, &f);
}

/* Finds the layer from the names of the kernel's functions. */
const char *drop_layer(const char *reason, const char *location)
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
	if (strncmp(reason, "QDISC", 5) == 0 || strncmp(reason, "TC_", 3) == 0)
		return "qdisc";
	if (strncmp(reason, "NETFILTER", 9) == 0)
		return "netfilter";
	if (strncmp(reason, "NEIGH", 5) == 0)
		return "neighbour";
	if (strncmp(reason, "SOCKET", 6) == 0)
		return "socket";
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strncmp(location, names[i].begins, strlen(names[i].begins)) == 0)
			return names[i].layer;
	return NULL;
}
