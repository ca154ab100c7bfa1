/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Packets of followed sockets that the kernel throws away, where and why. */

#define TRANSPORT_UNKNOWN 0xffff

/* What is dropped may be at any layer, so its headers are looked for where they were last known. */
static __always_inline int dropped(
	struct sk_buff *skb, void *location, __u32 reason, struct sock *rx_sk)
{
	struct skb_shared_info *shared = (void *)(skb->head + skb->end);
	const struct net_device *dev = skb->dev;
	const struct sock *sk = skb->sk;
	struct sock_entry *known;
	struct packet g = {};
	__u16 segs = 0;
	bool rx = false;
	__u64 sock = 0;

	if (!sk || !sent_by(&g, &sock, &known, skb, sk)) {
		unsigned char *ip = skb->head + skb->network_header;
		__u64 tuple, *cookie = NULL;
		__u32 netns;

		if (!dev || !skb->network_header)
			return 0;
		netns = dev->nd_net.net->ns.inum;
		if (!ip_version(skb))
			return 0;
		rx = true;
		if (segment_at_ip(&g, &tuple, skb, ip, netns)) {
			cookie = bpf_map_lookup_elem(&tuples, &tuple);
			if (!cookie)
				return 0;
			sock = *cookie;
		} else {
			struct datagram d = {.ip = (__u64)ip};

			if (!read_ip(&d, ip_version(skb), skb->len))
				return 0;
			read_upper(&d, ip);
			sock = 0;
			if (!find_place(netns, &d, &sock))
				return 0;
			datagram_packet(&g, &d, skb);
		}
	}
	bpf_probe_read_kernel(
		&segs, sizeof(segs), __builtin_preserve_access_index(&shared->gso_segs));
	EMIT(drop_raw, mg_drop_raw, e, {
		e->sock = sock;
		e->location = (__u64)location;
		e->seq = g.seq;
		e->len = g.len;
		e->ifindex = dev ? dev->ifindex : 0;
		e->reason = reason;
		e->segs = segs ? segs : 1;
		e->proto = g.proto;
		e->rx = rx;
	});
	return 0;
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(on_drop, struct sk_buff *skb, void *location, __u32 reason, struct sock *rx_sk)
{
	return dropped(skb, location, reason, rx_sk);
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(on_drop_3, struct sk_buff *skb, void *location, __u32 reason)
{
	return dropped(skb, location, reason, NULL);
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(on_drop_2, struct sk_buff *skb, void *location)
{
	return dropped(skb, location, 0, NULL);
}
