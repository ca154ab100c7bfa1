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
		how = dropped_for(g, sock, skb, ip, ip_version(skb), dev->nd_net.net->ns.inum);
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
		e->ifindex = ifindex_of(dev);
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

/* The words that name_drop told last. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct mg_drop_words);
} drop_words SEC(".maps");

const char place_format[4] SEC(".rodata.format") = "%ps";

/*
 * Writes the kernel's words for a place, the first argument, and a reason, the second one; returns
 * whether it could. The tracer runs it itself (BPF_PROG_TEST_RUN) for each place and reason once:
 * reading the list of all functions would take a tenth of a second of CPU time.
 */
SEC("raw_tp/magnet")
int name_drop(struct bpf_raw_tracepoint_args *ctx)
{
#ifndef MG_OLD
	__u64 place = ctx->args[0];
	__u32 zero = 0, reason = ctx->args[1];
	struct mg_drop_words *w = bpf_map_lookup_elem(&drop_words, &zero);
	struct btf_ptr p = {.ptr = &reason};

	if (!w || !bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_snprintf)) /* 5.13 */
		return 0;
	w->reason[0] = 0;
	if (bpf_core_type_exists(enum skb_drop_reason)) {
		p.type_id = bpf_core_type_id_kernel(enum skb_drop_reason);
		bpf_snprintf_btf(w->reason, sizeof(w->reason), &p, sizeof(p),
			BTF_F_COMPACT | BTF_F_NONAME | BTF_F_ZERO);
	}
	return bpf_snprintf(w->place, sizeof(w->place), place_format, &place, sizeof(place)) > 0;
#else
	return 0;
#endif
}
