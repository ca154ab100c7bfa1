/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Whose a packet is: by the socket it came from, or by where it goes. */
#ifndef MAGNET_BPF_WHOSE_H
#define MAGNET_BPF_WHOSE_H

enum via { VIA_OWN, VIA_FROM, VIA_TO };

/* Sent by a socket (not NULL), `known` if it is TCP's; false if that is not followed. */
static __always_inline bool sent_by(struct packet *g, __u64 *sock, struct sock_entry **known,
	const struct sk_buff *skb, const struct sock *sk)
{
	struct other *o;

	*known = sock_of(sk);
	if (*known) {
		*sock = (*known)->cookie;
		return segment_at_transport(g, skb);
	}
	o = other_of(sk);
	if (!o)
		return false;
	*sock = o->id;
	return datagram_sent(g, skb);
}

/* For a followed socket of this namespace; `data` is at the IP header. */
static __always_inline bool arrives_for(
	struct packet *g, __u64 *sock, const struct sk_buff *skb, __u32 netns)
{
	__u64 tuple, *cookie;

	if (segment_at_ip(g, &tuple, skb, skb->data, netns)) {
		cookie = bpf_map_lookup_elem(&tuples, &tuple);
		if (!cookie)
			return false;
		*sock = *cookie;
		return true;
	}
	return datagram_arrived(g, sock, skb, netns);
}

/*
 * On its way between namespaces, where no socket is at hand: forwarded, or bridged. The tuple is
 * that of a receiver; the sender's is the same the other way round.
 */
static __always_inline int on_its_way(
	struct packet *g, __u64 *sock, const struct sk_buff *skb, unsigned char *ip)
{
	__u64 key, *cookie;

	if (!segment_at_ip(g, &key, skb, ip, NO_NETNS))
		return 0;
	cookie = bpf_map_lookup_elem(&paths, &key);
	if (!cookie)
		return 0;
	*sock = *cookie & ~(1ull << 63);
	return *cookie >> 63 ? VIA_FROM : VIA_TO;
}

#endif
