/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Datagrams and fragments of any IP protocol but TCP: what they are, and whose. */
#ifndef MAGNET_BPF_DATAGRAM_H
#define MAGNET_BPF_DATAGRAM_H

struct datagram {
	__u64 ip;             /* where its IP header lies; here a pointer becomes a number */
	__u32 src[4], dst[4]; /* as IPv6 */
	__u32 hlen;           /* of the IP header with its extensions */
	__u32 len;            /* behind it */
	__u16 id, offset;     /* of a fragmented datagram; offset in bytes */
	bool more;            /* fragments follow */
	__u8 proto;
	__u16 sport, dport; /* of ICMP: its identifier, both; 0 in later fragments */
	__u16 what;         /* ICMP: type * 256 + code */
	__u8 upper;         /* bytes of UDP's or ICMP's header */
};

/* The packet at d->ip; `there` bytes of it are in the buffer. */
__noinline int read_ip(struct datagram *d, int version, __u32 there)
{
	unsigned char *ip;

	if (!d)
		return 0;
	ip = (void *)d->ip;
	if (version == 4) {
		struct ipv4_bytes h;
		__u32 total;

		if (bpf_probe_read_kernel(&h, sizeof(h), ip))
			return 0;
		d->src[2] = d->dst[2] = bpf_htonl(0xffff);
		d->src[3] = h.saddr;
		d->dst[3] = h.daddr;
		d->hlen = (h.version_ihl & 15) * 4;
		total = bpf_ntohs(h.tot_len);
		d->len = (total ? total : there) - d->hlen;
		d->id = bpf_ntohs(h.id);
		d->offset = (bpf_ntohs(h.frag_off) & 0x1fff) * 8;
		d->more = h.frag_off & bpf_htons(0x2000);
		d->proto = h.protocol;
	} else {
		struct ipv6_bytes h;
		__u32 total;

		if (bpf_probe_read_kernel(&h, sizeof(h), ip))
			return 0;
		__builtin_memcpy(d->src, h.saddr, 16);
		__builtin_memcpy(d->dst, h.daddr, 16);
		d->hlen = sizeof(h);
		d->proto = h.nexthdr;
		total = bpf_ntohs(h.payload_len);
		/* hop-by-hop, routing, fragment and destination options, as many as one meets */
		for (int i = 0; i < 4; i++) {
			__u8 x[8];

			if (d->proto != 0 && d->proto != 43 && d->proto != 44 && d->proto != 60)
				break;
			if (bpf_probe_read_kernel(x, sizeof(x), ip + (d->hlen & 0xfff)))
				return 0;
			if (d->proto == 44) {
				__u16 off = (__u16)x[2] << 8 | x[3];

				d->offset = off & 0xfff8;
				d->more = off & 1;
				d->id = (__u16)x[6] << 8 | x[7];
				d->hlen += 8;
			} else {
				d->hlen += (x[1] + 1) * 8;
			}
			d->proto = x[0];
		}
		d->len = (total ? total + sizeof(h) : there) - d->hlen;
	}
	return 1;
}

static __always_inline void read_upper(struct datagram *d, unsigned char *ip)
{
	__u16 h[4];

	if (d->offset)
		return;
	if (d->proto != IPPROTO_UDP && d->proto != IPPROTO_ICMP && d->proto != IPPROTO_ICMPV6)
		return;
	if (bpf_probe_read_kernel(h, sizeof(h), ip + (d->hlen & 0xfff)))
		return;
	d->upper = 8;
	if (d->proto == IPPROTO_UDP) {
		d->sport = bpf_ntohs(h[0]);
		d->dport = bpf_ntohs(h[1]);
	} else {
		d->what = bpf_ntohs(h[0]);
		d->sport = d->dport = bpf_ntohs(h[2]);
	}
}

static __always_inline int ip_version(const struct sk_buff *skb)
{
	return skb->protocol == bpf_htons(ETH_P_IP)     ? 4
	       : skb->protocol == bpf_htons(ETH_P_IPV6) ? 6
							: 0;
}

/* Later fragments go where the first went. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct place);
} fragments SEC(".maps");

static __always_inline __u64 fragment_key(__u32 netns, const struct datagram *d)
{
	return place_by_both(place_by_local(netns, d->proto, d->dst, d->id), d->src, 0);
}

/* Whose a datagram is that arrives: 1 and the socket, 0 if no followed one's. */
__noinline int find_place(__u32 netns, const struct datagram *d, __u64 *sock)
{
	__u64 local, key;
	struct place *p;

	if (!d || !sock)
		return 0;
	if (d->offset) {
		key = fragment_key(netns, d);
		p = bpf_map_lookup_elem(&fragments, &key);
		if (p)
			*sock = p->id;
		return p != NULL;
	}
	local = place_by_local(netns, d->proto, d->dst, d->dport);
	key = place_by_both(local, d->src, d->sport);
	p = bpf_map_lookup_elem(&places, &key);
	if (!p)
		p = bpf_map_lookup_elem(&places, &local);
	if (!p) {
		key = place_by_port(netns, d->proto, d->dport);
		p = bpf_map_lookup_elem(&places, &key);
	}
	if (!p) { /* a raw socket gets all of its protocol */
		key = place_by_port(netns, d->proto, 0);
		p = bpf_map_lookup_elem(&places, &key);
	}
	if (!p)
		return 0;
	*sock = p->id;
	if (d->more) {
		struct place same = *p;

		key = fragment_key(netns, d);
		bpf_map_update_elem(&fragments, &key, &same, BPF_ANY);
	}
	return 1;
}

/* What it says of itself; which buffer it is in stands for a sequence number. */
static __always_inline void datagram_packet(
	struct packet *g, const struct datagram *d, const struct sk_buff *skb)
{
	g->seq = buffer_of(skb);
	g->len = d->len - d->upper;
	g->ack = d->what;
	g->ip_id = d->id;
	g->proto = d->proto;
	g->part = d->offset ? 2 : d->more ? 1 : 0;
	g->flags = 0;
}

/* One that a followed socket sends: where its IP header is, is known. */
static __always_inline bool datagram_sent(struct packet *g, const struct sk_buff *skb)
{
	unsigned char *ip = skb->head + skb->network_header;
	struct datagram d = {.ip = (__u64)ip};
	__u32 before = ip - skb->data; /* the Ethernet header, at the device */

	if (!read_ip(&d, ip_version(skb), skb->len - before))
		return false;
	read_upper(&d, ip);
	datagram_packet(g, &d, skb);
	return true;
}

/* One that arrives: `data` is at the IP header. False if it is for no followed socket. */
static __always_inline bool datagram_arrived(
	struct packet *g, __u64 *id, const struct sk_buff *skb, __u32 netns)
{
	struct datagram d = {.ip = (__u64)skb->data};
	int version = ip_version(skb);

	if (!version || !read_ip(&d, version, skb->len))
		return false;
	if (d.proto == IPPROTO_TCP)
		return false;
	read_upper(&d, skb->data);
	*id = 0;
	if (!find_place(netns, &d, id))
		return false;
	datagram_packet(g, &d, skb);
	return true;
}

#endif
