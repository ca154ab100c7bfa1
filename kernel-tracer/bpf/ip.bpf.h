/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * IP, at netfilter's hooks: a packet leaves its transport, leaves IP, reaches IP, is forwarded, and
 * reaches its transport. Hooks at the other end of netfilter's own chains show netfilter's share.
 */

#define NF_ACCEPT 1

/* Records what changes in a connection as its segment is handed to IP. */
static __always_inline void tcp_leaves(const struct sock *sk, const struct packet *g, __u64 cookie)
{
	struct sock_entry *known;

	if (g->flags & TCP_SYN || changes_memory(g)) {
		known = sock_at(sk);
		if (known && !known->tuple && g->flags & TCP_SYN) /* now it has a port */
			select_with_port(sk, cookie);
		if (known)
			state_at_out(g, cookie, &known->tcp);
	}
	if (g->len && sk->__sk_common.skc_state != TCP_ESTABLISHED)
		tell_room(sk, cookie);
}

/* Records a segment at another hook. */
static __always_inline void record_again(
	struct packet_event *again, const struct net_device *dev, __u16 event)
{
	struct taken t;

	set_device(again, ifindex_of(dev));
	if (take(&t))
		publish_packet(&t, again, event);
}

static __always_inline int ip_sending(struct bpf_nf_ctx *ctx, __u16 event)
{
	struct sk_buff *skb = ctx->skb;
	const struct sock *sk = skb->sk;
	const struct net_device *out = POINTER(nf_hook_state, ctx->state, out);
	struct sock_entry *known;
	__u64 sock = 0, tables;
	struct packet_event e;
	struct packet g = {};
	struct taken t;
	bool tcp;
	int via;

	if (event != MG_EVENT_ip_out && sk && sent_before(&e, skb, sk)) {
		record_again(&e, out, event);
		return NF_ACCEPT;
	}
	tables = generation_now();
	if (event == MG_EVENT_ip_post &&
		of_request(skb, sk, POINTER(nf_hook_state, ctx->state, net)->ns.inum))
		return NF_ACCEPT;
	/* IP has an answer to a request before it is known that the request is followed */
	if (!sk || sk->__sk_common.skc_state == TCP_NEW_SYN_RECV || !sent_by(&g, &sock, skb, sk) ||
		!interface_passes(out))
		return NF_ACCEPT;
	/* in a tunnel it has left the socket's own IP before */
	tcp = !g.carried && sk->sk_protocol == IPPROTO_TCP;
	via = g.carried ? VIA_FROM : VIA_OWN;
	if (event == MG_EVENT_ip_out) {
		make_event(&e, sock, &g, skb, ifindex_of(out), via);
		if (tcp) { /* before its slot: see packet_event.bpf.h */
			e.kinds |= (__u64)context_here() << CONTEXT_AT;
			journey_begins(WAY_OUT, skb, (__u64)sk, NULL, tables, &e);
		}
	}
	if (take(&t)) {
		if (event !=
			MG_EVENT_ip_out) /* here the frame cannot hold it while a slot is taken */
			make_event(&e, sock, &g, skb, ifindex_of(out), via);
		publish_packet(&t, &e, event);
	}
	/* the packet's further events are recorded, or counted as lost, on their own */
	if (!tcp && event == MG_EVENT_ip_out && !g.carried && !sk->__sk_common.skc_dport)
		peer_passes(skb, skb->head + skb->network_header, ip_version(skb), &g, sock, false);
	if (tcp && event == MG_EVENT_ip_post && g.flags & TCP_SYN) {
		known = sock_of(sk);
		if (known)
			syn_leaves(skb, sk, known);
	}
	if (tcp && event == MG_EVENT_ip_out) {
		tcp_leaves(sk, &g, sock);
		state_at_ip(skb, sock, true);
	}
	return NF_ACCEPT;
}

#define CLOSING_STATES \
	(1u << TCP_FIN_WAIT1 | 1u << TCP_CLOSE_WAIT | 1u << TCP_LAST_ACK | 1u << TCP_CLOSING)

/*
 * Records the windows when a segment arrives after one end has closed, where tcp_recv does not
 * fire.
 */
static __always_inline void room_at_arrival(const struct sock *sk, __u64 cookie)
{
	const struct tcp_sock *tp;

	if (!sk ||
		!(1u << (sk->__sk_common.skc_state & 31) & CLOSING_STATES)) /* NULL on loopback */
		return;
	tp = CAST(tcp_sock, sk);
	if (GET(tp, write_seq) != GET(tp, snd_nxt))
		tell_room(sk, cookie);
}

static __always_inline int ip_arrived(
	struct sk_buff *skb, const struct net_device *dev, const struct net *net, __u16 event)
{
	struct packet_event e;
	struct packet g = {};
	struct taken t;
	int version;
	__u64 sock = 0;

	if (received_before(&e, skb, (__u64)net)) {
		if (event == MG_EVENT_ip_in)
			room_at_arrival(POINTER(sk_buff, skb, sk), e.sock);
		record_again(&e, dev, event);
		if (event == MG_EVENT_ip_in)
			state_at_ip(skb, e.sock, false);
		return 0;
	}
	version = ip_version(skb);
	if (is_others(skb->data, version) ||
		!arrives_for(&g, &sock, skb, skb->data, version, net->ns.inum) ||
		!interface_passes(dev))
		return 0;
	if (event == MG_EVENT_ip_in)
		tell_late(&g, sock);
	if (event == MG_EVENT_ip_in && g.proto == IPPROTO_TCP)
		room_at_arrival(POINTER(sk_buff, skb, sk), sock);
	if (take(&t)) {
		make_event(&e, sock, &g, skb, ifindex_of(dev), VIA_OWN);
		publish_packet(&t, &e, event);
	}
	/* as for sent segments */
	if (event == MG_EVENT_ip_in && g.proto == IPPROTO_TCP)
		state_at_ip(skb, sock, false);
	else if (event == MG_EVENT_ip_in)
		peer_passes(skb, skb->data, version, &g, sock, true);
	return 0;
}

static __always_inline int ip_arriving(struct bpf_nf_ctx *ctx, __u16 event)
{
	ip_arrived(ctx->skb, POINTER(nf_hook_state, ctx->state, in),
		POINTER(nf_hook_state, ctx->state, net), event);
	return NF_ACCEPT;
}

SEC("magnet_nf/local_out")
int on_ip_out(struct bpf_nf_ctx *ctx)
{
	return ip_sending(ctx, MG_EVENT_ip_out);
}

SEC("magnet_nf/local_out")
int on_nf_out_end(struct bpf_nf_ctx *ctx)
{
	return ip_sending(ctx, MG_EVENT_nf_out_end);
}

SEC("magnet_nf/post_routing")
int on_nf_post_begin(struct bpf_nf_ctx *ctx)
{
	return ip_sending(ctx, MG_EVENT_nf_post_begin);
}

SEC("magnet_nf/post_routing")
int on_ip_post(struct bpf_nf_ctx *ctx)
{
	return ip_sending(ctx, MG_EVENT_ip_post);
}

SEC("magnet_nf/pre_routing")
int on_ip_recv(struct bpf_nf_ctx *ctx)
{
	return ip_arriving(ctx, MG_EVENT_ip_recv);
}

SEC("magnet_nf/pre_routing")
int on_nf_pre_end(struct bpf_nf_ctx *ctx)
{
	return ip_arriving(ctx, MG_EVENT_nf_pre_end);
}

SEC("magnet_nf/local_in")
int on_nf_in_begin(struct bpf_nf_ctx *ctx)
{
	return ip_arriving(ctx, MG_EVENT_nf_in_begin);
}

SEC("magnet_nf/local_in")
int on_ip_in(struct bpf_nf_ctx *ctx)
{
	return ip_arriving(ctx, MG_EVENT_ip_in);
}

SEC("magnet_nf/forward")
int on_ip_forward(struct bpf_nf_ctx *ctx)
{
	struct sk_buff *skb = ctx->skb;
	struct packet_event e;
	struct packet g = {};
	struct taken t;
	__u64 sock = 0;
	int version = ip_version(skb);
	int via =
		is_others(skb->data, version) ? 0 : on_its_way(&g, &sock, skb, skb->data, version);

	if (!via || !interface_passes(POINTER(nf_hook_state, ctx->state, out)) || !take(&t))
		return NF_ACCEPT;
	make_event(&e, sock, &g, skb, ifindex_of(POINTER(nf_hook_state, ctx->state, out)), via);
	publish_packet(&t, &e, MG_EVENT_ip_forward);
	return NF_ACCEPT;
}
