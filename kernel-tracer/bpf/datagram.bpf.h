/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Identifies datagrams and fragments of any IP protocol but TCP, and their owners. */
#ifndef MAGNET_BPF_DATAGRAM_H
#define MAGNET_BPF_DATAGRAM_H

struct datagram {
	union {
		__u64 ip;    /* address of its IP header, as a number */
		__u32 netns; /* where it arrives, once the header has been read: frames are small */
	};
	__u32 src[4], dst[4]; /* IPv4 addresses are mapped to IPv6 */
	__u32 hlen;           /* IP header length with extensions */
	__u32 len;            /* bytes behind it */
	__u16 id, offset;     /* of a fragmented datagram; offset in bytes */
	bool more;            /* fragments follow */
	__u8 proto;
	__u16 sport, dport; /* ICMP: both are its identifier; 0 in later fragments */
	__u16 what;         /* ICMP: type * 256 + code */
	__u8 upper;         /* bytes of UDP's or ICMP's header */
};

/* Parses the packet at d->ip; `there` bytes of it are in the buffer. */
__global int read_ip(struct datagram *d, int version, __u32 there)
{
	unsigned char *ip;

	if (!d)
		return 0;
	ip = (void *)number_at(&d->ip);
	if (version == 4) {
		struct ipv4_bytes h;
		__u32 total;

		if (!read_ipv4(&h, ip))
			return 0;
		d->src[2] = d->dst[2] = bpf_htonl(0xffff);
		d->src[3] = h.saddr;
		d->dst[3] = h.daddr;
		d->hlen = (h.version_ihl & 15) * 4;
		total = bpf_ntohs(h.tot_len);
		d->len = without(total ? total : there, d->hlen);
		d->id = bpf_ntohs(h.id);
		d->offset = (bpf_ntohs(h.frag_off) & 0x1fff) * 8;
		d->more = h.frag_off & bpf_htons(0x2000);
		d->proto = h.protocol;
	} else {
		struct { /* as an ipv6_bytes begins: all of it is more than the callers' stack has
			  */
			__be32 version;
			__be16 payload_len;
			__u8 nexthdr, hop_limit;
		} h;
		__u32 total;
		__u64 b;

		if (bpf_probe_read_kernel(&h, sizeof(h), ip) ||
			bpf_probe_read_kernel(d->src, 16, ip + sizeof(h)) ||
			bpf_probe_read_kernel(d->dst, 16, ip + sizeof(h) + 16))
			return 0;
		total = bpf_ntohs(h.payload_len);
		b = behind_ipv6(number_at(&d->ip), h.nexthdr);
		if (!b)
			return 0;
		d->hlen = BEHIND_HLEN(b);
		d->proto = BEHIND_PROTO(b);
		d->offset = BEHIND_OFFSET(b) & 0xfff8;
		d->more = BEHIND_OFFSET(b) & 1;
		d->id = BEHIND_ID(b);
		d->len = without(total ? total + sizeof(struct ipv6_bytes) : there, d->hlen);
	}
	return 1;
}

static __always_inline void read_upper(struct datagram *d, unsigned char *ip)
{
	__u16 h[4];

	if (d->offset || d->len < 8)
		return;
	if (d->proto != IPPROTO_UDP && d->proto != IPPROTO_ICMP && d->proto != IPPROTO_ICMPV6)
		return;
	if (CAN_CAST) { /* ICMP's header is as long */
		const volatile __u16 *u = bpf_rdonly_cast(
			ip + (d->hlen & 0xfff), bpf_core_type_id_kernel(struct udphdr));

		h[0] = u[0];
		h[1] = u[1];
		h[2] = u[2];
	} else if (bpf_probe_read_kernel(h, sizeof(h), ip + (d->hlen & 0xfff))) {
		return;
	}
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

/* Returns whether the frame has a VLAN tag in front of its IP header. */
static __always_inline bool is_tag(__be16 protocol)
{
	return protocol == bpf_htons(ETH_P_8021Q) || protocol == bpf_htons(ETH_P_8021AD);
}

/* Owners of fragmented datagrams: later fragments go where the first went. */
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

/*
 * Returns whether the kernel answers it itself, as with echo requests; a raw socket also gets a
 * copy.
 */
static __always_inline bool for_the_kernel(const struct datagram *d)
{
	return (d->proto == IPPROTO_ICMP && d->what >> 8 == 8) ||
	       (d->proto == IPPROTO_ICMPV6 && d->what >> 8 == 128);
}

enum { PLACE_NONE, PLACE_OWN, PLACE_COPY /* a raw socket's: another may get it, too */ };

/*
 * Returns whether a place was stored that is not there any more. One of a closed socket stays. A
 * function of its own, for a small frame.
 */
__noinline int is_evicted(__u64 key)
{
	return is_remembered(key) && !bpf_map_lookup_elem(&places, &key);
}

/*
 * Counts an event as lost if it is missing because the place of the datagram's socket was evicted.
 * The result has no meaning.
 */
__global int count_without_place(const struct datagram *d)
{
	__u32 netns = d ? d->netns : 0;
	__u64 local;

	if (!d || d->offset || for_the_kernel(d))
		return 0;
	if (place_kinds[PLACES_PORT] && is_evicted(place_by_port(netns, d->proto, d->dport))) {
		count_lost();
		return 0;
	}
	if (!(place_kinds[PLACES_LOCAL] | place_kinds[PLACES_BOTH]))
		return 0;
	local = place_by_local(netns, d->proto, d->dst, d->dport);
	if ((place_kinds[PLACES_LOCAL] && is_evicted(local)) ||
		(place_kinds[PLACES_BOTH] && is_evicted(place_by_both(local, d->src, d->sport))))
		count_lost();
	return 0;
}

/* Returns PLACE_* for a datagram that arrives, and its socket. */
__global int find_place(__u32 netns, const struct datagram *d, __u64 *sock)
{
	__u64 local, key;
	struct place *p = NULL;
	int how = PLACE_OWN;

	if (!d || !sock)
		return PLACE_NONE;
	if (d->offset) {
		key = fragment_key(netns, d);
		p = bpf_map_lookup_elem(&fragments, &key);
		if (p)
			*sock = p->id;
		else
			count_thrown_out(key);
		return p ? PLACE_OWN : PLACE_NONE;
	}
	if (!for_the_kernel(d)) {
		if (place_kinds[PLACES_PORT])
			p = place_at(place_by_port(netns, d->proto, d->dport));
		if (place_kinds[PLACES_LOCAL] |
			place_kinds[PLACES_BOTH]) { /* the most specific one is tried first */
			struct place *nearer = NULL;

			local = place_by_local(netns, d->proto, d->dst, d->dport);
			if (place_kinds[PLACES_BOTH])
				nearer = place_at(place_by_both(local, d->src, d->sport));
			if (!nearer && place_kinds[PLACES_LOCAL])
				nearer = place_at(local);
			if (nearer)
				p = nearer;
		}
	}
	if (!p && place_kinds[PLACES_RAW]) { /* a raw socket gets all of its protocol */
		p = place_at(place_by_port(netns, d->proto, 0));
		how = PLACE_COPY;
	}
	if (!p)
		return PLACE_NONE;
	*sock = p->id;
	if (d->more) {
		struct place same = *p;

		key = fragment_key(netns, d);
		bpf_map_update_elem(&fragments, &key, &same, BPF_ANY);
		remember_key(key);
	}
	return how;
}

/*
 * Returns a key for datagrams between namespaces, from their ends alone, as in `paths`; for
 * fragments, which need not have ports, from their id. Keys are stored where a datagram that still
 * has its socket comes in.
 */
static __always_inline __u64 way_key(const struct datagram *d, bool part)
{
	__u64 local = place_by_local(NO_NETNS, d->proto, d->src, part ? d->id : d->sport);

	return place_by_both(local, d->dst, part ? 0 : d->dport);
}

__global int learn_way(const struct datagram *d, __u64 id)
{
	__u64 key, from = id | PATH_FROM;

	if (!d)
		return 0;
	if (d->more || d->offset) {
		key = way_key(d, true);
		bpf_map_update_elem(&paths, &key, &from, BPF_ANY);
		remember_key(key);
		datagram_way_changed();
	}
	if (d->offset)
		return 0;
	key = way_key(d, false);
	bpf_map_update_elem(&paths, &key, &from, BPF_ANY);
	remember_key(key);
	key = place_by_local(NO_NETNS, d->proto, d->dst, d->dport);
	key = place_by_both(key, d->src, d->sport);
	bpf_map_update_elem(&paths, &key, &id, BPF_NOEXIST);
	remember_key(key);
	datagram_way_changed();
	return 0;
}

/* Returns VIA_*, and the socket. */
__global int find_way(const struct datagram *d, __u64 *sock)
{
	__u64 key, *id, same;

	if (!d || !sock)
		return 0;
	key = way_key(d, d->offset);
	id = bpf_map_lookup_elem(&paths, &key);
	if (!id) {
		count_thrown_out(key);
		return 0;
	}
	same = *id;
	if (d->more && !d->offset) { /* its other fragments follow */
		key = way_key(d, true);
		bpf_map_update_elem(&paths, &key, &same, BPF_ANY);
		remember_key(key);
		datagram_way_changed();
	}
	*sock = same & ~PATH_FROM;
	return same & PATH_FROM ? VIA_FROM : VIA_TO;
}

/* Fills in the packet; the buffer stands for a sequence number. */
static __always_inline void datagram_packet(
	struct packet *g, const struct datagram *d, const struct sk_buff *skb)
{
	g->seq = buffer_of(skb);
	g->len = without(d->len, d->upper);
	g->ack = 0;
	g->ip_id = d->id;
	g->frag = d->offset / 8 | (d->more ? MG_FRAG_MORE : 0);
	g->icmp_type = d->what >> 8;
	g->proto = d->proto;
	g->flags = 0;
}

/* Parses the packet whose IP header is at `ip`; fails unless `version` is 4 or 6. */
static __always_inline bool read_datagram(
	struct datagram *d, const struct sk_buff *skb, unsigned char *ip, int version)
{
	__u32 before = ip - skb->data; /* the Ethernet header, at the device */

	d->ip = (__u64)ip;
	if (!read_ip(d, version, skb->len - before))
		return false;
	read_upper(d, ip);
	return true;
}

/*
 * Handles a packet that a socket sends inside a tunnel, whose outer IP header differs: looks for
 * the inner one. A tunnel's own fragments do not show their content.
 */
static __noinline int carried(struct packet *g, const struct sk_buff *skb, bool tcp)
{
	unsigned char *ip = skb->head + skb->network_header;
	struct datagram d = {};
	__u8 first = 0;

	if (!tunnelled(skb)) {
		/* TCP behind extension headers */
		return tcp && ip_version(skb) == 6 && read_datagram(&d, skb, ip, 6) &&
		       d.proto == IPPROTO_TCP && !d.offset && segment_at_transport(g, skb);
	}
	g->carried = true;
	if (tcp)
		return segment_at(g, skb, skb->head + skb->inner_transport_header);
	ip = skb->head + skb->inner_network_header;
	bpf_probe_read_kernel(&first, sizeof(first), ip);
	if (!read_datagram(&d, skb, ip, first >> 4))
		return false;
	datagram_packet(g, &d, skb);
	return true;
}

/*
 * Returns whether the datagram is the socket's own: its address may be translated, or the program
 * wrote the header itself.
 */
static __always_inline bool is_of(const struct datagram *d, const struct sock *sk)
{
	return d->proto == sk->sk_protocol &&
	       (d->proto != IPPROTO_UDP || d->offset || d->sport == sk->__sk_common.skc_num);
}

/* Identifies a datagram that a followed socket sends, with a known IP header. */
static __always_inline bool datagram_sent(
	struct packet *g, const struct sk_buff *skb, const struct sock *sk)
{
	unsigned char *ip = skb->head + skb->network_header;
	int version = ip_version(skb);
	struct datagram d = {};
	__u8 first = 0;

	if (!version && is_tag(skb->protocol)) { /* in front of the header */
		bpf_probe_read_kernel(&first, sizeof(first), ip);
		version = first >> 4;
	}
	if ((version != 4 && version != 6) || !read_datagram(&d, skb, ip, version))
		return false;
	if (!is_of(&d, sk) && tunnelled(skb))
		return carried(g, skb, false);
	/* encrypted by now (ESP, AH), unless by the socket itself: it cannot be read */
	if ((d.proto == 50 || d.proto == 51) && d.proto != sk->sk_protocol &&
		sk->sk_protocol != IPPROTO_RAW)
		return false;
	datagram_packet(g, &d, skb);
	return true;
}

/* Identifies the datagram, not TCP's, whose IP header is at `ip`. */
static __always_inline bool datagram_at(
	struct datagram *d, const struct sk_buff *skb, unsigned char *ip, int version)
{
	d->ip = (__u64)ip;
	if (!version || !read_ip(d, version, skb->len - (__u32)(ip - skb->data)))
		return false;
	if (d->proto == IPPROTO_TCP)
		return false;
	read_upper(d, ip);
	return true;
}

/* Returns PLACE_* for a datagram that arrives. */
static __always_inline int datagram_arrived(struct packet *g, __u64 *id, const struct sk_buff *skb,
	unsigned char *ip, int version, __u32 netns)
{
	struct datagram d = {};
	int how;

	if (!datagram_at(&d, skb, ip, version))
		return PLACE_NONE;
	*id = 0;
	d.netns = netns;
	how = find_place(netns, &d, id);
	if (how)
		datagram_packet(g, &d, skb);
	else if (places_stored >= cfg.others_first)
		count_without_place(&d);
	return how;
}

#endif
