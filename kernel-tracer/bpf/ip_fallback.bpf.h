/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * IP without netfilter's hooks, which take BPF programs since Linux 6.4: at the functions that call
 * those hooks, in all network namespaces at once. As there, a packet that netfilter then drops has
 * been seen.
 */

/*
 * Returns the device by which it is to leave; skb->dev is not set yet, and TCP over IPv6 has not
 * even its own route.
 */
static __always_inline const struct net_device *route_device(const struct sk_buff *skb)
{
	/* the lowest bit says whether it holds a reference */
	const struct dst_entry *dst = (void *)(skb->_skb_refdst & ~1ul);

	if (!dst && skb->sk)
		dst = BPF_CORE_READ(skb, sk, sk_dst_cache);
	return dst ? BPF_CORE_READ(dst, dev) : NULL;
}

/* Does what interface_passes() does and returns the index, for a device given as a number. */
static __always_inline bool route_passes(const struct net_device *dev, __u32 *ifindex)
{
	const volatile __u64 *want = (const volatile __u64 *)settings.interface;
	__u64 name[2] = {};

	*ifindex = dev ? BPF_CORE_READ(dev, ifindex) : 0;
	if (!settings.interface[0])
		return true;
	if (!dev)
		return false;
	bpf_probe_read_kernel(
		name, sizeof(name), __builtin_preserve_access_index((const void *)&dev->name));
	return name[0] == want[0] && name[1] == want[1];
}

/* Identifies a datagram before IP has written its length, and the buffer's protocol. */
static __always_inline bool datagram_leaving(
	struct packet *g, const struct sk_buff *skb, int version)
{
	unsigned char *ip = skb->head + skb->network_header;
	struct datagram d = {.ip = (__u64)ip};

	if (!read_ip(&d, version, skb->len))
		return false;
	d.len = skb->len - d.hlen;
	read_upper(&d, ip);
	datagram_packet(g, &d, skb);
	return true;
}

static __always_inline int ip_sending_at(struct sk_buff *skb, __u16 event, int version)
{
	const struct sock *sk = skb->sk;
	struct sock_entry *known;
	struct packet_event e;
	struct packet g = {};
	struct other *o;
	struct taken t;
	__u32 ifindex;
	__u64 sock;

	/* a tunnel's packets have the socket of their content */
	if (!sk || tunnelled(skb))
		return 0;
	known = sock_of(sk);
	if (known) {
		sock = known->cookie;
		if (!segment_at_transport(&g, skb))
			return 0;
	} else {
		o = other_of(sk);
		if (!o) { /* no frames are left to meet it, which the device's hooks do */
			if (was_evicted(sk))
				count_evicted(sk);
			return 0;
		}
		sock = o->id;
		if (!datagram_leaving(&g, skb, version))
			return 0;
	}
	if (!route_passes(route_device(skb), &ifindex))
		return 0;
	if (take(&t)) {
		make_event(&e, sock, &g, skb, ifindex, VIA_OWN);
		if (known && event == MG_EVENT_ip_out)
			e.kinds |= (__u64)context_here() << CONTEXT_AT;
		publish_packet(&t, &e, event);
	}
	if (!known && event == MG_EVENT_ip_out && !sk->__sk_common.skc_dport)
		peer_passes(skb, skb->head + skb->network_header, version, &g, sock, false);
	if (known && event == MG_EVENT_ip_post && g.flags & TCP_SYN)
		syn_leaves(skb, sk, known); /* before address translation */
	if (known && event == MG_EVENT_ip_out) {
		if (!known->tuple && g.flags & TCP_SYN) /* now it has a port */
			select_connected(sk, sock);
		state_at_out(&g, sock, &known->tcp);
		if (g.len && sk->__sk_common.skc_state != TCP_ESTABLISHED)
			tell_room(sk, sock);
		if (version == 4) /* IPv6 has not written its header yet */
			state_at_ip(skb, sock, true);
	}
	return 0;
}

SEC("fentry/__ip_local_out")
int BPF_PROG(on_ip_out_4, struct net *net, struct sock *sk, struct sk_buff *skb)
{
	return ip_sending_at(skb, MG_EVENT_ip_out, 4);
}

/* TCP's own way into IPv6 (ip6_xmit() has more arguments than a trampoline of that time takes) */
SEC("fentry/inet6_csk_xmit")
int BPF_PROG(on_ip_out_tcp6, struct sock *sk, struct sk_buff *skb)
{
	return ip_sending_at(skb, MG_EVENT_ip_out, 6);
}

/* and that of other protocols */
SEC("fentry/__ip6_local_out")
int BPF_PROG(on_ip_out_6, struct net *net, struct sock *sk, struct sk_buff *skb)
{
	return ip_sending_at(skb, MG_EVENT_ip_out, 6);
}

SEC("fentry/ip_output")
int BPF_PROG(on_ip_post_4, struct net *net, struct sock *sk, struct sk_buff *skb)
{
	return of_request(skb, skb->sk, net->ns.inum) ? 0 : ip_sending_at(skb, MG_EVENT_ip_post, 4);
}

SEC("fentry/ip6_output")
int BPF_PROG(on_ip_post_6, struct net *net, struct sock *sk, struct sk_buff *skb)
{
	return of_request(skb, skb->sk, net->ns.inum) ? 0 : ip_sending_at(skb, MG_EVENT_ip_post, 6);
}

SEC("fentry/ip_local_deliver")
int BPF_PROG(on_ip_in_4, struct sk_buff *skb)
{
	return ip_arrived(skb, skb->dev, skb->dev->nd_net.net, MG_EVENT_ip_in);
}

SEC("fentry/ip6_input")
int BPF_PROG(on_ip_in_6, struct sk_buff *skb)
{
	return ip_arrived(skb, skb->dev, skb->dev->nd_net.net, MG_EVENT_ip_in);
}

static __always_inline int ip_forwarding_at(struct sk_buff *skb)
{
	struct packet_event e;
	struct packet g = {};
	struct taken t;
	__u32 ifindex;
	__u64 sock = 0;
	int via = on_its_way(&g, &sock, skb, skb->data, ip_version(skb));

	if (!via || !route_passes(route_device(skb), &ifindex) || !take(&t))
		return 0;
	make_event(&e, sock, &g, skb, ifindex, via);
	publish_packet(&t, &e, MG_EVENT_ip_forward);
	return 0;
}

SEC("fentry/ip_forward")
int BPF_PROG(on_ip_forward_4, struct sk_buff *skb)
{
	return ip_forwarding_at(skb);
}

SEC("fentry/ip6_forward")
int BPF_PROG(on_ip_forward_6, struct sk_buff *skb)
{
	return ip_forwarding_at(skb);
}
