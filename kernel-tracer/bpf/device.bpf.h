/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Network devices: the queue, the driver, and reception. */

#define IFF_SLAVE         (1 << 11)
#define PRIV_BRIDGE_PORT  (1 << 9)
#define PRIV_OVS_DATAPATH (1 << 10)
#define PRIV_TEAM_PORT    (1 << 13)
#define ARPHRD_ETHER      1

/*
 * Returns whether it is a port of a bridge: packets for the bridge's own socket pass a tracepoint
 * at both.
 */
static __always_inline bool is_bridged(const struct net_device *dev)
{
	return dev->rx_handler && BPF_CORE_READ_BITFIELD_PROBED(dev, priv_flags) &
					  (PRIV_BRIDGE_PORT | PRIV_OVS_DATAPATH);
}

/*
 * The same for a bond or team, which has no tracepoint for received packets: what its socket sends
 * passes both.
 */
static __always_inline bool is_port(const struct net_device *dev)
{
	if (!dev->rx_handler)
		return false;
	return dev->flags & IFF_SLAVE ||
	       BPF_CORE_READ_BITFIELD_PROBED(dev, priv_flags) &
		       (PRIV_BRIDGE_PORT | PRIV_OVS_DATAPATH | PRIV_TEAM_PORT);
}

/*
 * Skips VLAN tags that are in the frame, as some drivers do not remove them. Returns 16 * their
 * length + the IP version, 0 if it is not IP. Takes numbers only, so that the verifier checks it
 * once.
 */
__noinline __u32 behind_tags(__u64 at)
{
	__be16 tag[4];

	if (bpf_probe_read_kernel(tag, sizeof(tag), (void *)at))
		return 0;
	for (int i = 0; i < 2; i++) {
		__be16 protocol = tag[2 * i + 1];

		if (protocol == bpf_htons(ETH_P_IP) || protocol == bpf_htons(ETH_P_IPV6))
			return (i + 1) * 4 * 16 + (protocol == bpf_htons(ETH_P_IP) ? 4 : 6);
		if (!is_tag(protocol))
			break;
	}
	return 0;
}

/*
 * A packet handed to a driver: the buffer may be gone when the driver is done. There are a few
 * places per CPU, since stacked devices transmit within each other.
 */
struct handed {
	__u64 skb, sock;
	__u32 seq, len;
	__u32 ifindex;
	__u16 segs;
	__u16 via;
};
#define HANDED 4
_Static_assert(sizeof(struct handed) * HANDED == MG_RING_HANDED * sizeof(__u64), "handed");

/* Returns the place of a buffer at a device, or with 0 a free one; else the first. */
static __always_inline struct handed *handed_slot(__u64 skb, __u32 ifindex)
{
	struct mg_ring *r = ring_here();
	struct handed *h;

	if (!r)
		return NULL;
	h = (struct handed *)r->handed;
	for (int i = 0; i < HANDED; i++)
		if (h[i].skb == skb && (!skb || h[i].ifindex == ifindex))
			return &h[i];
	return h;
}

static __always_inline void hand_over(const struct sk_buff *skb, const struct packet_event *e)
{
	struct handed *h = handed_slot(0, 0);

	if (!h)
		return;
	if (h->skb) /* all places are taken: the first packet's event is lost */
		count_lost();
	h->skb = (__u64)skb;
	h->sock = e->sock;
	h->seq = (__u32)e->seq_len +
		 (event_flags(e) & TCP_SYN ? 1 : 0); /* number of its first byte */
	h->len = event_length(e);
	h->ifindex = event_device(e);
	h->segs = event_segments(e);
	h->via = e->kinds >> VIA_AT;
}

/* The same in a frame of its own. */
static __noinline int hand_over_parsed(
	const struct sk_buff *skb, const struct packet *g, __u64 sock, int via)
{
	struct packet_event e;

	make_event(&e, sock, g, skb, ifindex_of(POINTER(sk_buff, skb, dev)), via);
	hand_over(skb, &e);
	return 0;
}

static __always_inline __u64 mac_at(const void *address)
{
	__u64 mac = 0;

	bpf_probe_read_kernel(&mac, 6, address);
	return mac;
}

/* Returns whether there are devices on top of this one. */
static __always_inline bool has_above(const struct net_device *dev)
{
	return dev->adj_list.upper.next != &dev->adj_list.upper;
}

/*
 * Returns whether the frame came through a device on top of this one, which the socket's route
 * uses: a VLAN device, whose tag the frame has by now, or one with an address of its own, such as a
 * macvlan.
 */
static __always_inline bool from_above(const struct sk_buff *skb, const struct net_device *dev)
{
	if (!has_above(dev))
		return false;
	return skb->vlan_proto || is_tag(skb->protocol) ||
	       (dev->type == ARPHRD_ETHER &&
		       mac_at(skb->data + 6) != mac_at(BPF_CORE_READ(dev, dev_addr)));
}

/* Returns whether the socket is in another namespace than the device. */
static __always_inline bool is_foreign(const struct sock *sk, const struct net_device *dev)
{
	return POINTER(sock, sk, __sk_common.skc_net.net) != dev->nd_net.net;
}

/* Returns where a packet that has its socket is seen. */
static __always_inline int via_of(
	const struct sk_buff *skb, const struct sock *sk, const struct net_device *dev)
{
	return is_foreign(sk, dev) || is_port(dev) || from_above(skb, dev) ? VIA_FROM : VIA_OWN;
}

/* The driver will be done with the packet also where dev_xmit finds no room. */
static __always_inline void record_sent(
	const struct sk_buff *skb, const struct packet_event *e, __u16 event)
{
	struct taken t;

	if (event == MG_EVENT_dev_xmit)
		hand_over(skb, e);
	if (take_here(&t))
		publish_packet(&t, e, event);
}

/* Records a segment that a hook before has recorded; false if none has. */
static __always_inline bool dev_sends_again(
	struct sk_buff *skb, const struct sock *sk, const struct net_device *dev, __u16 event)
{
	struct packet_event again;

	if (!sent_before(&again, skb, sk))
		return false;
	again.kinds |= (__u64)via_of(skb, sk, dev) << VIA_AT;
	set_device(&again, dev->ifindex);
	record_sent(skb, &again, event);
	return true;
}

/*
 * Records also what other namespaces do with the packet: bridged it still has its socket, forwarded
 * it has none.
 */
static __always_inline int dev_sending(struct sk_buff *skb, __u16 event)
{
	const struct net_device *dev = POINTER(sk_buff, skb, dev);
	const struct sock *sk = skb->sk;
	struct packet g = {};
	bool kept = false;
	int via = VIA_OWN;
	struct packet_event e;
	struct taken t;
	__u64 sock = 0, tables, lost;

	if (sk && is_unfollowed(sk) && !is_foreign(sk, dev))
		return 0;
	if (sk && dev_sends_again(skb, sk, dev, event))
		return 0;
	tables = generation_now();
	if (sk && sent_by(&g, &sock, skb, sk)) {
		via = g.carried ? VIA_FROM : via_of(skb, sk, dev);
		kept = !g.carried;
	} else {
		if (sk && !is_foreign(sk, dev))
			return 0;
		lost = lost_here();
		via = on_its_way(&g, &sock, skb, skb->head + skb->network_header, ip_version(skb));
		/* its way is forgotten: dev_done will be missing too, and can not know */
		if (!via && event == MG_EVENT_dev_xmit && lost_here() != lost)
			count_lost();
		if (!via)
			return 0;
	}
	if (!interface_passes(dev))
		return 0;
	if (KEEPS_JOURNEYS) {
		make_event(&e, sock, &g, skb, ifindex_of(dev), via);
		if (event == MG_EVENT_dev_queue && kept)
			journey_begins(WAY_OUT, skb, (__u64)sk, NULL, tables, &e);
		record_sent(skb, &e, event);
		return 0;
	}
	/* elsewhere the frame cannot hold an event while a slot is taken */
	if (!take_here(&t)) {
		if (event == MG_EVENT_dev_xmit)
			hand_over_parsed(skb, &g, sock, via);
		return 0;
	}
	make_event(&e, sock, &g, skb, ifindex_of(dev), via);
	copy_event(t.slot->payload, &e);
	if (event == MG_EVENT_dev_xmit)
		hand_over(skb, (void *)t.slot->payload);
	publish(&t, event);
	return 0;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(on_dev_queue, struct sk_buff *skb)
{
	return dev_sending(skb, MG_EVENT_dev_queue);
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(on_dev_xmit, struct sk_buff *skb)
{
	return dev_sending(skb, MG_EVENT_dev_xmit);
}

SEC("tp_btf/net_dev_xmit")
int BPF_PROG(on_dev_done, struct sk_buff *skb, int rc, struct net_device *dev)
{
	struct handed *h = handed_slot((__u64)skb, dev->ifindex);

	if (!h || h->skb != (__u64)skb)
		return 0;
	h->skb = 0;
	EMIT_HERE(dev_done, mg_dev_done, e, {
		e->sock = h->sock;
		e->seq = h->seq;
		e->len = h->len;
		e->rc = rc;
		e->ifindex = dev->ifindex;
		e->segs = h->segs;
		e->via = h->via;
	});
	return 0;
}

/*
 * Searches a list of devices for the address in another namespace than `net`; returns that
 * namespace, 0 if there is none. Takes numbers only, so that the verifier checks the loop once.
 */
#define MOST_ABOVE 32
__noinline __u32 netns_of_address(__u64 first, __u64 last, __u64 mac, __u64 net)
{
	const struct list_head *at = (void *)first;

	for (int i = 0; i < MOST_ABOVE; i++) {
		const struct netdev_adjacent *a =
			(void *)at - bpf_core_field_offset(struct netdev_adjacent, list);
		const struct net_device *above = BPF_CORE_READ(a, dev);

		if (mac_at(BPF_CORE_READ(above, dev_addr)) == mac &&
			(__u64)BPF_CORE_READ(above, nd_net.net) != net)
			return BPF_CORE_READ(above, nd_net.net, ns.inum);
		if ((__u64)at == last)
			break;
		at = BPF_CORE_READ(at, next);
	}
	return 0;
}

/*
 * Returns the namespace of the upper device that a frame is for, such as a container's macvlan,
 * which has no tracepoint of its own; 0 if there is none, or it is in the same namespace.
 */
static __always_inline __u32 netns_above(const struct sk_buff *skb, const struct net_device *dev)
{
	if (!has_above(dev))
		return 0;
	return netns_of_address((__u64)BPF_CORE_READ(dev, adj_list.upper.next),
		(__u64)BPF_CORE_READ(dev, adj_list.upper.prev), mac_at(skb->head + skb->mac_header),
		(__u64)BPF_CORE_READ(dev, nd_net.net));
}

static __always_inline bool arrives_above(struct packet *g, __u64 *sock, const struct sk_buff *skb,
	const struct net_device *dev, unsigned char *ip, int version)
{
	__u32 netns = netns_above(skb, dev);

	return netns && arrives_for(g, sock, skb, ip, version, netns);
}

/* Returns whether tc's ingress rules redirected a packet to this device. */
static __noinline bool is_redirected(const struct sk_buff *skb, const struct net_device *dev)
{
	return bpf_core_field_exists(skb->from_ingress) &&
	       BPF_CORE_READ_BITFIELD_PROBED(skb, from_ingress) &&
	       BPF_CORE_READ(dev, ingress_queue);
}

/*
 * Returns whether tc's ingress rules redirected the packet through another device, such as ifb for
 * shaping, so that it comes a second time. Most packets have been received by no device before:
 * for them no function is called.
 */
static __always_inline bool came_before(const struct sk_buff *skb, const struct net_device *dev)
{
	return skb->skb_iif && skb->skb_iif != dev->ifindex && is_redirected(skb, dev);
}

/* Returns whether only IP may find the datagram's socket; `g` is what is known of it. */
static __always_inline bool may_be_late(
	const struct packet *g, const struct sk_buff *skb, const struct net_device *dev)
{
	return g->proto != IPPROTO_TCP &&
	       (place_kinds[PLACES_PORT] | place_kinds[PLACES_LOCAL] | place_kinds[PLACES_BOTH] |
		       place_kinds[PLACES_RAW]) &&
	       interface_passes(dev) && !is_bridged(dev) && !came_before(skb, dev);
}

/*
 * Identifies a packet that is for no followed socket of this namespace. One that has just come from
 * another namespace still has its socket. Returns where it is seen, 0 if it is nobody's.
 */
static __always_inline int between_namespaces(
	struct packet *g, __u64 *sock, const struct sk_buff *skb, unsigned char *ip, int version)
{
	const struct sock *sk = skb->sk;

	if (sk && sent_by(g, sock, skb, sk)) {
		if (!g->carried && g->proto == IPPROTO_TCP)
			learn_path(g, skb, ip, version);
		else if (!g->carried)
			comes_from(skb, ip, *sock, version);
		return VIA_FROM;
	}
	if (sk)
		SET_TUPLE(g, 0); /* it may have been parsed as the socket's */
	return on_its_way(g, sock, skb, ip, version);
}

static __always_inline void dev_receiving(struct sk_buff *skb, __u16 event)
{
	const struct net_device *dev = POINTER(sk_buff, skb, dev);
	int via = VIA_OWN;
	unsigned char *ip = skb->data;
	int version = ip_version(skb);
	const struct net *net = POINTER(net_device, dev, nd_net.net);
	struct packet g = {};
	bool kept = false;
	struct packet_event e;
	struct taken t;
	__u64 sock = 0, tables = generation_now(), path;

	if (!version && is_tag(skb->protocol)) {
		__u32 behind = behind_tags(number_of(ip));

		ip += behind >> 4;
		version = behind & 15;
	}
	if (!version || is_others(ip, version))
		return;
	if (arrives_for(&g, &sock, skb, ip, version, net->ns.inum)) {
		if (is_bridged(dev) || came_before(skb, dev)) {
			via = VIA_TO;
		} else {
			forget_note(&g);
			kept = version == 4 && !(sock & MG_REQUEST_ID);
		}
	} else if (arrives_above(&g, &sock, skb, dev, ip, version)) {
		via = VIA_OWN;
		forget_note(&g);
	} else {
		path = path_of_parsed(&g);
		if (path &&
			is_path_of(path, skb->sk)) { /* as most are: no packet is parsed again */
			via = owner_on(path, &sock);
		} else {
			if (event == MG_EVENT_dev_recv && may_be_late(&g, skb, dev))
				note_datagram(skb, ip, version);
			via = between_namespaces(&g, &sock, skb, ip, version);
		}
		if (!via)
			return;
	}
	if (!interface_passes(dev))
		return;
	if (KEEPS_JOURNEYS) {
		make_event(&e, sock, &g, skb, ifindex_of(dev), via);
		if (kept) /* before its slot: see packet_event.bpf.h */
			journey_begins(WAY_IN, skb, (__u64)net, ip, tables, &e);
	}
	if (!take_here(&t))
		return;
	if (!KEEPS_JOURNEYS)
		make_event(&e, sock, &g, skb, ifindex_of(dev), via);
	publish_packet(&t, &e, event);
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(on_dev_recv, struct sk_buff *skb)
{
	dev_receiving(skb, MG_EVENT_dev_recv);
	return 0;
}

SEC("tp_btf/napi_gro_receive_entry")
int BPF_PROG(on_dev_gro, struct sk_buff *skb)
{
	dev_receiving(skb, MG_EVENT_dev_gro);
	return 0;
}
