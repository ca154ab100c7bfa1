/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Connections whose addresses this host itself translates, as to a service's address, or when
 * redirected to a proxy: until netfilter, arriving segments have other addresses than the socket,
 * namely those of its opening segment when that leaves.
 */
#ifndef MAGNET_BPF_TRANSLATED_H
#define MAGNET_BPF_TRANSLATED_H

/* Returns the key in `tuples` of what answers this segment; 0: it cannot be read. */
static __noinline __u64 answers_tuple(const struct sk_buff *skb, __u32 netns, struct tcp_bytes *t)
{
	unsigned char *ip = skb->head + skb->network_header;

	if (!read_tcp(t, skb->head + skb->transport_header))
		return 0;
	if (skb->protocol == bpf_htons(ETH_P_IP)) {
		struct ipv4_bytes h;

		return read_ipv4(&h, ip) ? tuple4(netns, h.saddr, h.daddr, t->sport, t->dport) : 0;
	}
	if (skb->protocol == bpf_htons(ETH_P_IPV6)) {
		struct ipv6_bytes h;

		return bpf_probe_read_kernel(&h, sizeof(h), ip)
			       ? 0
			       : tuple6(netns, h.saddr, h.daddr, t->sport, t->dport);
	}
	return 0;
}

/* Call it for a followed socket's SYN, behind netfilter. */
static __always_inline void syn_leaves(
	const struct sk_buff *skb, const struct sock *sk, struct sock_entry *known)
{
	struct tcp_bytes t = {};
	__u64 tuple = answers_tuple(skb, POINTER(sock, sk, __sk_common.skc_net.net)->ns.inum, &t);

	if (!tuple || !known->tuple || tuple == known->tuple || tuple == known->translated)
		return;
	known->translated = tuple;
	follow_ports(t.sport, t.dport);
	if (bpf_map_update_elem(&tuples, &tuple, &known->cookie, BPF_ANY))
		count_not_followed(number_counted(sk, known->cookie));
	tables_changed();
}

/* Call it for the SYN-ACK `t`: there is no socket yet, but its key is known. */
static __always_inline void note_translation(
	const struct sock *request, __u32 netns, __u64 tuple, const struct tcp_bytes *t)
{
	struct translation now = {.tuple = tuple, .lport = t->sport, .rport = t->dport};
	__u32 l[4], r[4];
	__u64 key;

	sock_addresses(request, l, r);
	key = tuple_of(netns, l, r, bpf_htons(request->__sk_common.skc_num),
		request->__sk_common.skc_dport);
	if (tuple == key)
		return;
	bpf_map_update_elem(&translations, &key, &now, BPF_ANY);
	any_translated = 1;
}

#endif
