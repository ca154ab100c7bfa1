/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Requests to connect: they have no socket until the handshake is complete, which data may do, as
 * with TCP_DEFER_ACCEPT or a lost third segment. So a request is met when it is answered, and its
 * SYN for the listener that it is for. The segments of the handshake at a device, and those that
 * arrive for the request, are recorded with a number of its own, MG_REQUEST_ID and its tuple. Their
 * sequence and acknowledgement numbers tell the reader which socket it became.
 */
#ifndef MAGNET_BPF_REQUEST_H
#define MAGNET_BPF_REQUEST_H

#define TCP_ACK 16

/* Returns whether a segment with these flags makes a request. */
static __always_inline bool opens(__u8 flags)
{
	return (flags & (TCP_SYN | TCP_ACK)) == TCP_SYN;
}

/*
 * Call it when the SYN-ACK `t` to a request of a followed listener leaves; what arrives for it has
 * this tuple.
 */
static __always_inline void expect_data(
	__u32 netns, __u16 port, __u64 what, __u64 tuple, const struct tcp_bytes *t)
{
	__u64 key = (__u64)netns << 16 | port;

	if (!cfg.all && !bpf_map_lookup_elem(&listeners, &key))
		return;
	follow_ports(t->sport, t->dport);
	remember_key(tuple); /* before paths are remembered anew */
	bpf_map_update_elem(&requests, &tuple, &what, BPF_ANY);
	tables_changed();
}

/* Returns whether the filters pass the socket that sends this segment. */
static __always_inline bool sender_passes(unsigned char *ip, __u32 netns)
{
	struct endpoints e = {.netns = netns};

	return read_segment_ends(&e, ip) && judge(&e, MG_KIND_tcp) == WANTED;
}

/*
 * Handles a SYN-ACK without a socket that this host has made: with a SYN cookie there is no
 * request, and the segment has no owner.
 */
static __noinline int cookie_leaves(const struct sk_buff *skb, __u32 netns)
{
	unsigned char *ip = skb->head + skb->network_header;
	struct tcp_bytes t = {};
	__u64 tuple;

	if (!says_tcp(ip))
		return 0;
	tuple = answers_tuple(skb, netns, &t);
	if (!tuple || (t.flags & (TCP_SYN | TCP_ACK)) != (TCP_SYN | TCP_ACK))
		return 0;
	if (!settings.active || sender_passes(ip, netns))
		expect_data(netns, bpf_ntohs(t.sport), NO_REQUEST, tuple, &t);
	return 0;
}

/* `sk` is a request, or the socket that Fast Open made of it at once. */
static __always_inline void answer_leaves(
	const struct sk_buff *skb, const struct sock *sk, __u32 netns)
{
	struct tcp_bytes t = {};
	__u64 tuple = answers_tuple(skb, netns, &t);

	if (!tuple)
		return;
	if (judge_tcp(sk) == WANTED)
		expect_data(netns, sk->__sk_common.skc_num, sk->__sk_common.skc_num, tuple, &t);
	note_translation(sk, netns, tuple, &t);
}

/*
 * Call it for each segment that leaves IP. Returns true if it belongs to no socket that could be
 * followed: it answers a request, or has no socket. A socket that Fast Open made early answers by
 * itself.
 */
static __always_inline bool of_request(
	const struct sk_buff *skb, const struct sock *sk, __u32 netns)
{
	__u8 state;

	if (!sk) {
		if (!skb->skb_iif) /* otherwise it is forwarded */
			cookie_leaves(skb, netns);
		return true;
	}
	state = sk->__sk_common.skc_state;
	if (state == TCP_NEW_SYN_RECV || state == TCP_SYN_RECV)
		answer_leaves(skb, sk, netns);
	return state == TCP_NEW_SYN_RECV;
}

#endif
