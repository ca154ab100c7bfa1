/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The IP header of a segment, at level full. */
#ifndef MAGNET_BPF_IP_HEADER_H
#define MAGNET_BPF_IP_HEADER_H

static __always_inline void fill_ipv4(struct mg_ip_header *e, const struct ipv4_bytes *ip)
{
	e->flow_label = 0;
	e->ident = bpf_ntohs(ip->id);
	e->frag_off = bpf_ntohs(ip->frag_off);
	e->version = 4;
	e->tos = ip->tos;
	e->ttl = ip->ttl;
	e->protocol = ip->protocol;
}

static __always_inline void fill_ipv6(struct mg_ip_header *e, const struct ipv6_bytes *ip)
{
	__u32 first = bpf_ntohl(ip->version);

	e->flow_label = first & 0xfffff;
	e->ident = e->frag_off = 0;
	e->version = 6;
	e->tos = first >> 20;
	e->ttl = ip->hop_limit;
	e->protocol = ip->nexthdr;
}

/* Records the header; call it after ip_out and ip_in, where `data` is at the IP header. */
static __always_inline void state_at_ip(const struct sk_buff *skb, __u64 cookie, bool sent)
{
	union {
		struct ipv4_bytes v4;
		struct ipv6_bytes v6;
	} ip;

	/* the longer header is within the buffer for IPv4 too: TCP's or UDP's follows */
	if (settings.level != MG_LEVEL_full || bpf_probe_read_kernel(&ip, sizeof(ip), skb->data))
		return;
	EMIT(ip_header, mg_ip_header, e, {
		e->sock = cookie;
		e->sent = sent;
		if (ip.v4.version_ihl >> 4 == 4)
			fill_ipv4(e, &ip.v4);
		else
			fill_ipv6(e, &ip.v6);
	});
}

#endif
