/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Hashes that name a packet's buffer, and a connection by its network namespace, addresses and
 * ports.
 */
#ifndef MAGNET_BPF_TUPLE_H
#define MAGNET_BPF_TUPLE_H

static __always_inline __u64 mix(__u64 h, __u64 x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 32;
}

/*
 * Hashes a number in memory; a function of its own, where the verifier takes a pointer in memory
 * for a number.
 */
__global __u32 hash_at(const __u64 *value)
{
	return value ? mix(cfg.seed, number_at(value)) : 0;
}

/* Returns a name for a packet's memory that reveals no kernel address. */
static __always_inline __u32 buffer_of(const struct sk_buff *skb)
{
	__u64 head = (__u64)skb->head;

	return hash_at(&head);
}

static __always_inline __u64 tuple_ports(__u64 h, __be16 lport, __be16 rport)
{
	h = mix(h, (__u64)lport << 16 | rport);
	return h ? h : 1;
}

static __always_inline __u64 tuple4(
	__u32 netns, __be32 laddr, __be32 raddr, __be16 lport, __be16 rport)
{
	return tuple_ports(mix(cfg.seed ^ netns, (__u64)laddr << 32 | raddr), lport, rport);
}

static __always_inline __u64 tuple6(
	__u32 netns, const __u32 *laddr, const __u32 *raddr, __be16 lport, __be16 rport)
{
	__u64 h = cfg.seed ^ netns;

	h = mix(h, (__u64)laddr[0] << 32 | laddr[1]);
	h = mix(h, (__u64)laddr[2] << 32 | laddr[3]);
	h = mix(h, (__u64)raddr[0] << 32 | raddr[1]);
	h = mix(h, (__u64)raddr[2] << 32 | raddr[3]);
	return tuple_ports(h, lport, rport);
}

/* Returns the four words of an address as IPv6; an IPv4 address is mapped. */
static __always_inline void sock_addresses(const struct sock *sk, __u32 *laddr, __u32 *raddr)
{
	if (sk->__sk_common.skc_family == AF_INET) {
		laddr[0] = raddr[0] = 0;
		laddr[1] = raddr[1] = 0;
		laddr[2] = raddr[2] = bpf_htonl(0xffff);
		laddr[3] = sk->__sk_common.skc_rcv_saddr;
		raddr[3] = sk->__sk_common.skc_daddr;
		return;
	}
	for (int i = 0; i < 4; i++) {
		laddr[i] = sk->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[i];
		raddr[i] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[i];
	}
}

/*
 * Returns a socket's key. An IPv6 socket may carry IPv4: its packets hash as IPv4, so it must too.
 */
static __always_inline __u64 tuple_of(
	__u32 net, const __u32 *laddr, const __u32 *raddr, __be16 lport, __be16 rport)
{
	if (raddr[0] == 0 && raddr[1] == 0 && raddr[2] == bpf_htonl(0xffff))
		return tuple4(net, laddr[3], raddr[3], lport, rport);
	return tuple6(net, laddr, raddr, lport, rport);
}

#endif
