/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Packets of followed sockets that the kernel drops, with place and reason. */

/*
 * Returns whether the packet is in a UDP socket's queue, where other data overwrite the device.
 * Packets dropped there at close were not read; those dropped while being read had a wrong
 * checksum.
 */
static __always_inline bool in_queue(const struct sk_buff *skb)
{
	__u64 dev = 0;

	bpf_probe_read_kernel(&dev, sizeof(dev), &skb->dev);
	/* kernel addresses begin so, even with five levels of page tables; a length does not */
	return dev && dev >> 56 != 0xff;
}

static __noinline bool dropped_reading(
	struct packet *g, __u64 *sock, const struct sk_buff *skb, unsigned char *ip)
{
	struct task_state *state = current_task();
	struct datagram d = {};

	if (!state || !state->call || !state->other || state->dir != MG_DIR_RX ||
		!datagram_at(&d, skb, ip, ip_version(skb)))
		return false;
	*sock = state->sock;
	datagram_packet(g, &d, skb);
	return true;
}

/*
 * Finds the owner of a dropped packet and its direction; false if no followed socket owns it. The
 * packet may be at any layer, so its headers are looked for where they were last known. A received
 * one may have its receiver's socket already, or its sender's still. Of a list of fragments each
 * gets its header when its turn comes.
 */
static __always_inline bool dropped_of(
	struct packet *g, __u64 *sock, bool *rx, const struct sk_buff *skb, bool refused)
{
	unsigned char *ip = skb->head + skb->network_header;
	const struct net_device *dev = POINTER(sk_buff, skb, dev);
	const struct sock *sk = skb->sk;
	int how;

	if (in_queue(skb)) {
		*rx = true;
		return dropped_reading(g, sock, skb, ip);
	}
	/* or it is not received yet, as when a driver's XDP program drops it */
	if ((skb->skb_iif || !sk) && dev && skb->network_header) {
		how = arrives_for(g, sock, skb, ip, ip_version(skb), dev->nd_net.net->ns.inum);
		*rx = true;
		if (g->proto == IPPROTO_TCP && (!how || *sock & MG_REQUEST_ID) &&
			skb->data == skb->head + skb->transport_header) /* TCP has it */
			note_request_drop(skb, ip, ip_version(skb), dev->nd_net.net->ns.inum);
		if (how) /* a raw socket has got its copy of a packet without another reader */
			return how == PLACE_OWN || !refused;
	}
	if (sk) {
		/* its copy of other sockets' packets */
		if (sk->__sk_common.skc_family == AF_PACKET)
			return false;
		*rx = false;
		how = sent_by(g, sock, skb, sk);
		if (*sock && !dev && !skb->skb_iif && ip < skb->data &&
			sk->sk_protocol != IPPROTO_TCP) {
			g->seq = buffer_of(skb);
			g->len = skb->len;
			g->proto = sk->sk_protocol;
			return true;
		}
		return how;
	}
	if (!skb->network_header)
		return false;
	how = on_its_way(g, sock, skb, ip, ip_version(skb));
	*rx = how == VIA_TO;
	return how || (dev && comes_back(g, sock, skb, ip, dev->nd_net.net->ns.inum));
}

/* Reasons have different numbers in different kernels. */
static __always_inline bool nobody_wants(__u32 reason)
{
	return (bpf_core_enum_value_exists(enum skb_drop_reason, SKB_DROP_REASON_NO_SOCKET) &&
		       reason == bpf_core_enum_value(
					 enum skb_drop_reason, SKB_DROP_REASON_NO_SOCKET)) ||
	       (bpf_core_enum_value_exists(enum skb_drop_reason, SKB_DROP_REASON_UNHANDLED_PROTO) &&
		       reason == bpf_core_enum_value(
					 enum skb_drop_reason, SKB_DROP_REASON_UNHANDLED_PROTO));
}

static __always_inline int dropped(void *ctx, struct sk_buff *skb, void *location, __u32 reason)
{
	struct skb_shared_info *shared = (void *)(skb->head + skb->end);
	const struct net_device *dev;
	struct packet g = {};
	__u64 sock = 0;
	__u16 segs = 0;
	bool rx = false;

	if (!dropped_of(&g, &sock, &rx, skb, nobody_wants(reason)))
		return 0;
	dev = POINTER(sk_buff, skb, dev); /* only now, as the frame has no room for it before */
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
	stacks_at(ctx, sock, MG_EVENT_stack_drop);
	return 0;
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(on_drop, struct sk_buff *skb, void *location, __u32 reason, struct sock *rx_sk)
{
	return dropped(ctx, skb, location, reason);
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(on_drop_3, struct sk_buff *skb, void *location, __u32 reason)
{
	return dropped(ctx, skb, location, reason);
}

SEC("tp_btf/kfree_skb")
int BPF_PROG(on_drop_2, struct sk_buff *skb, void *location)
{
	return dropped(ctx, skb, location, 0);
}
