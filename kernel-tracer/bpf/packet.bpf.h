/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Parses packets: finds the TCP header, sending and receiving. */
#ifndef MAGNET_BPF_PACKET_H
#define MAGNET_BPF_PACKET_H

struct tcp_bytes {
	__be16 sport, dport;
	__be32 seq, ack;
	__u8 doff; /* upper four bits, in words */
	__u8 flags;
	__be16 window, check, urgent;
};

/* Where a packet is seen, value of the field `via`. */
enum via { VIA_OWN, VIA_FROM, VIA_TO };

#define TCP_SYN    2
#define TCP_HEADER 20

/* Fields as in the events of that name. */
struct packet {
	__u32 seq, len, ack;
	__be16 window; /* unscaled, as in the header */
	__u16 ip_id, frag;
	__u8 flags, proto, icmp_type;
	bool carried; /* in a tunnel, whose headers precede its own */
#if CAN_CAST
	__u64 tuple; /* of a segment that arrives, by its receiver's namespace; 0 = not known */
#endif
};

/* Subtracts header lengths, which may exceed the packet. */
static __always_inline __u32 without(__u32 len, __u32 headers)
{
	return len > headers ? len - headers : 0;
}

static __always_inline void set_segment(struct packet *g, const struct tcp_bytes *t)
{
	g->seq = bpf_ntohl(t->seq);
	g->ack = bpf_ntohl(t->ack);
	g->flags = t->flags;
	g->window = t->window;
	g->proto = IPPROTO_TCP;
	g->ip_id = g->frag = g->icmp_type = 0;
}

static __always_inline bool read_tcp(struct tcp_bytes *t, unsigned char *th)
{
	const volatile struct tcp_bytes *h; /* one load per member, as the verifier requires */

	if (!CAN_CAST)
		return bpf_probe_read_kernel(t, sizeof(*t), th) == 0;
	/* both have the same layout on the wire */
	h = bpf_rdonly_cast(th, bpf_core_type_id_kernel(struct tcphdr));
	t->sport = h->sport;
	t->dport = h->dport;
	t->seq = h->seq;
	t->ack = h->ack;
	*(__u16 *)&t->doff = *(const volatile __u16 *)&h->doff; /* flags too */
	t->window = h->window;
	return true;
}

static __always_inline bool segment_at(
	struct packet *g, const struct sk_buff *skb, unsigned char *th)
{
	struct tcp_bytes t;

	if (!read_tcp(&t, th))
		return false;
	set_segment(g, &t);
	g->len = without(skb->len, (__u32)(th - skb->data) + (t.doff >> 4) * 4);
	return true;
}

/* Parses a segment whose transport header's position is known: sending, and inside TCP. */
static __always_inline bool segment_at_transport(struct packet *g, const struct sk_buff *skb)
{
	return segment_at(g, skb, skb->head + skb->transport_header);
}

struct ipv4_bytes {
	__u8 version_ihl, tos;
	__be16 tot_len, id, frag_off;
	__u8 ttl, protocol;
	__be16 check;
	__be32 saddr, daddr;
};

struct ipv6_bytes {
	__be32 version;
	__be16 payload_len;
	__u8 nexthdr, hop_limit;
	__u32 saddr[4], daddr[4];
};

static __always_inline bool read_ipv4(struct ipv4_bytes *to, unsigned char *ip)
{
	const volatile struct ipv4_bytes *h;

	if (!CAN_CAST)
		return bpf_probe_read_kernel(to, sizeof(*to), ip) == 0;
	h = bpf_rdonly_cast(ip, bpf_core_type_id_kernel(struct iphdr));
	to->version_ihl = h->version_ihl;
	to->tot_len = h->tot_len;
	to->id = h->id;
	to->frag_off = h->frag_off;
	to->protocol = h->protocol;
	to->saddr = h->saddr;
	to->daddr = h->daddr;
	return true;
}

/*
 * Returns whether the packet is a tunnel's: it keeps the socket of its content, whose headers lie
 * behind its own.
 */
static __always_inline bool tunnelled(const struct sk_buff *skb)
{
	return skb->inner_network_header > skb->network_header;
}

/* Returns whether this IP header is that of a whole TCP segment: a tunnel's has the same socket. */
static __always_inline bool says_tcp(unsigned char *ip)
{
	struct {
		__u8 version_ihl, next[5];
		__be16 frag_off;
		__u8 ttl, protocol;
	} h;

	if (CAN_CAST) {
		const volatile struct ipv4_bytes *v4 =
			bpf_rdonly_cast(ip, bpf_core_type_id_kernel(struct iphdr));

		h.version_ihl = v4->version_ihl;
		h.frag_off = v4->frag_off; /* IPv6: the next header, and the hop limit */
		h.protocol = v4->protocol;
	} else if (bpf_probe_read_kernel(&h, sizeof(h), ip)) {
		return false;
	}
	if (h.version_ihl >> 4 == 6)
		return (bpf_ntohs(h.frag_off) >> 8) == IPPROTO_TCP;
	return h.protocol == IPPROTO_TCP && !(h.frag_off & bpf_htons(0x1fff));
}

/* Hop-by-hop (a jumbo length), routing, fragment, destination options. */
static __always_inline bool is_extension(__u32 next)
{
	return next < 64 && (1ull << 0 | 1ull << 43 | 1ull << 44 | 1ull << 60) >> next & 1;
}

/* Returns an address that the verifier does not take for a pointer. */
static __always_inline __u64 number_of(const void *address)
{
	__u64 n = 0;

	bpf_probe_read_kernel(&n, sizeof(n), &address);
	return n;
}

/*
 * Returns what follows an IPv6 header with its extensions, in one number: its offset (14 bits), the
 * protocol (from bit 16), whether there was a fragment header (24), that header's offset with its
 * flags (32) and id (48). 0: it cannot be read. Takes and returns numbers only: the verifier then
 * checks the global function once, on any kernel, and no caller's states multiply with the possible
 * headers.
 */
__noinline __u64 behind_ipv6(__u64 ip, __u32 next)
{
	__u32 at = sizeof(struct ipv6_bytes);
	__u64 fragment = 0;

#pragma unroll
	for (int i = 0; i < 4; i++) {
		__u8 x[8];

		if (!is_extension(next))
			break;
		if (bpf_probe_read_kernel(x, sizeof(x), (void *)(ip + (at & 0xfff))))
			return 0;
		if (next == 44) {
			fragment = 1ull << 24 | (__u64)x[2] << 40 | (__u64)x[3] << 32 |
				   (__u64)x[6] << 56 | (__u64)x[7] << 48;
			at += 8;
		} else {
			at += (x[1] + 1) * 8;
		}
		next = x[0];
	}
	return fragment | (next & 0xff) << 16 | (at & 0x3fff);
}

#define BEHIND_HLEN(b)   ((__u32)(b)&0x3fff)
#define BEHIND_PROTO(b)  ((__u8)((b) >> 16))
#define BEHIND_IS_PART   (1 << 24)
#define BEHIND_OFFSET(b) ((__u16)((b) >> 32))
#define BEHIND_ID(b)     ((__u16)((b) >> 48))

/*
 * Reads the ends of a segment, the sender's as the local one, into `e`, whose addresses are all 0.
 * Returns false if they cannot be read. A function with its own stack frame: see whose.bpf.h.
 */
static __noinline bool read_segment_ends(struct endpoints *e, unsigned char *ip)
{
	const __u32 both = sizeof(e->laddr) + sizeof(e->raddr);
	struct ipv4_bytes h;

	if (!read_ipv4(&h, ip))
		return false;
	if (h.version_ihl >> 4 == 4) {
		e->laddr[2] = e->raddr[2] = bpf_htonl(0xffff);
		e->laddr[3] = h.saddr;
		e->raddr[3] = h.daddr;
		ip += (h.version_ihl & 15) * 4;
	} else {
		__u64 b = behind_ipv6(number_of(ip), bpf_ntohs(h.frag_off) >> 8 /* next header */);

		/* both addresses are adjacent, here and there, and so are the ports */
		if (BEHIND_PROTO(b) != IPPROTO_TCP || b & BEHIND_IS_PART ||
			bpf_probe_read_kernel(e->laddr, both, ip + 8))
			return false;
		ip += BEHIND_HLEN(b) & 0xfff;
	}
	if (bpf_probe_read_kernel(&e->lport, sizeof(e->lport) + sizeof(e->rport), ip))
		return false;
	e->lport = bpf_ntohs(e->lport);
	e->rport = bpf_ntohs(e->rport);
	return true;
}

/*
 * Parses the segment whose IP header is at `ip`, and computes the key of the socket it is for. A
 * total length of 0 means BIG TCP, longer than 64 KiB; then the buffer's own length counts.
 */
static __always_inline bool segment_at_ip(struct packet *g, __u64 *tuple, const struct sk_buff *skb,
	unsigned char *ip, int version, __u32 netns)
{
	struct tcp_bytes t;
	__u32 total, hlen;

	if (version == 4) {
		struct ipv4_bytes h;

		if (!read_ipv4(&h, ip) || h.protocol != IPPROTO_TCP ||
			(h.frag_off & bpf_htons(0x1fff)))
			return false;
		hlen = (h.version_ihl & 15) * 4;
		if (!read_tcp(&t, ip + hlen))
			return false;
		total = bpf_ntohs(h.tot_len);
		*tuple = tuple4(netns, h.daddr, h.saddr, t.dport, t.sport);
	} else if (version == 6) {
		struct {
			struct ipv6_bytes ip;
			struct tcp_bytes tcp;
		} h;

		if (bpf_probe_read_kernel(&h, sizeof(h), ip))
			return false;
		hlen = sizeof(h.ip);
		total = bpf_ntohs(h.ip.payload_len);
		if (total)
			total += hlen;
		if (h.ip.nexthdr != IPPROTO_TCP) {
			__u64 b;

			if (!is_extension(h.ip.nexthdr))
				return false;
			b = behind_ipv6(number_of(ip), h.ip.nexthdr);
			if (BEHIND_PROTO(b) != IPPROTO_TCP || b & BEHIND_IS_PART)
				return false;
			hlen = BEHIND_HLEN(b) & 0xfff;
			if (bpf_probe_read_kernel(&h.tcp, sizeof(h.tcp), ip + hlen))
				return false;
		}
		*tuple = tuple6(netns, h.ip.daddr, h.ip.saddr, h.tcp.dport, h.tcp.sport);
		t = h.tcp;
	} else {
		return false;
	}
	set_segment(g, &t);
	if (total == 0)
		total = skb->len - (__u32)(ip - skb->data);
	if (total < hlen + TCP_HEADER) /* what follows in memory does not belong to it */
		return false;
	g->len = without(total, hlen + (t.doff >> 4) * 4);
	return true;
}

/* Returns a device's index, 0 without a device. */
static __always_inline __u32 ifindex_of(const struct net_device *dev)
{
	return dev ? dev->ifindex : 0;
}

#endif
