/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Makes and records a packet's event. */
#ifndef MAGNET_BPF_PACKET_EVENT_H
#define MAGNET_BPF_PACKET_EVENT_H

/*
 * The event of a packet, in words that are made in registers: a load from where narrower stores are
 * still under way waits until they are in the cache, where a slot's line rarely is. An atomic
 * operation waits for all stores, so what later hooks take over is kept before a slot is taken.
 */
struct packet_event {
	__u64 sock;
	__u64 seq_len;
	__u64 ack_ifindex;
	__u64 sizes; /* headers, segs, gso_size, ip_id */
	__u64 kinds; /* frag, tcp_flags, zero_window, icmp_type, proto, context, via */
};

#define PLACED_AT(member, word, shift)                                                      \
	_Static_assert(__builtin_offsetof(struct mg_packet, member) ==                      \
			       __builtin_offsetof(struct packet_event, word) + (shift) / 8, \
		"struct packet_event")
#define LEN_AT       32
#define IFINDEX_AT   32
#define SEGS_AT      16
#define GSO_AT       32
#define IP_ID_AT     48
#define FLAGS_AT     16
#define ZERO_AT      24
#define ICMP_TYPE_AT 32
#define PROTO_AT     40
#define CONTEXT_AT   48
#define VIA_AT       56
PLACED_AT(sock, sock, 0);
PLACED_AT(seq, seq_len, 0);
PLACED_AT(len, seq_len, LEN_AT);
PLACED_AT(ack, ack_ifindex, 0);
PLACED_AT(ifindex, ack_ifindex, IFINDEX_AT);
PLACED_AT(headers, sizes, 0);
PLACED_AT(segs, sizes, SEGS_AT);
PLACED_AT(gso_size, sizes, GSO_AT);
PLACED_AT(ip_id, sizes, IP_ID_AT);
PLACED_AT(frag, kinds, 0);
PLACED_AT(tcp_flags, kinds, FLAGS_AT);
PLACED_AT(zero_window, kinds, ZERO_AT);
PLACED_AT(icmp_type, kinds, ICMP_TYPE_AT);
PLACED_AT(proto, kinds, PROTO_AT);
PLACED_AT(context, kinds, CONTEXT_AT);
PLACED_AT(via, kinds, VIA_AT);
_Static_assert(sizeof(struct mg_packet) == sizeof(struct packet_event), "struct packet_event");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "struct packet_event");

static __always_inline __u32 event_length(const struct packet_event *e)
{
	return e->seq_len >> LEN_AT;
}

static __always_inline __u32 event_device(const struct packet_event *e)
{
	return e->ack_ifindex >> IFINDEX_AT;
}

static __always_inline __u16 event_segments(const struct packet_event *e)
{
	return e->sizes >> SEGS_AT;
}

static __always_inline __u8 event_flags(const struct packet_event *e)
{
	return e->kinds >> FLAGS_AT;
}

static __always_inline __u8 event_protocol(const struct packet_event *e)
{
	return e->kinds >> PROTO_AT;
}

static __always_inline void set_device(struct packet_event *e, __u32 ifindex)
{
	e->ack_ifindex = (__u32)e->ack_ifindex | (__u64)ifindex << IFINDEX_AT;
}

/* Returns the bytes of the headers that are in front of so much payload. */
static __always_inline __u16 headers_of(const struct sk_buff *skb, __u32 len)
{
	return without(skb->len, len);
}

static __always_inline void make_event(struct packet_event *e, __u64 sock, const struct packet *g,
	const struct sk_buff *skb, __u32 ifindex, int via)
{
	const struct skb_shared_info *shared =
		CAST(skb_shared_info, (void *)(skb->head + skb->end));
	__u16 gso[2] = {};

	if (CAN_CAST) {
		gso[0] = shared->gso_size;
		gso[1] = shared->gso_segs;
	} else { /* they are adjacent */
		bpf_probe_read_kernel(
			gso, sizeof(gso), __builtin_preserve_access_index(&shared->gso_size));
	}
	e->sock = sock;
	e->seq_len = g->seq | (__u64)g->len << LEN_AT;
	e->ack_ifindex = g->ack | (__u64)ifindex << IFINDEX_AT;
	e->sizes = headers_of(skb, g->len) | (__u64)(gso[1] ? gso[1] : 1) << SEGS_AT |
		   (__u64)gso[0] << GSO_AT | (__u64)g->ip_id << IP_ID_AT;
	e->kinds = g->frag | (__u64)g->flags << FLAGS_AT |
		   (__u64)(g->proto == IPPROTO_TCP && !g->window) << ZERO_AT |
		   (__u64)g->icmp_type << ICMP_TYPE_AT | (__u64)g->proto << PROTO_AT |
		   (__u64)via << VIA_AT;
}

typedef __u64 __attribute__((may_alias)) word;

static __always_inline void copy_event(void *to, const struct packet_event *from)
{
	word *w = to;

	w[0] = from->sock;
	w[1] = from->seq_len;
	w[2] = from->ack_ifindex;
	w[3] = from->sizes;
	w[4] = from->kinds;
}

/* Records a packet's event where a slot has been taken. */
static __always_inline void publish_packet(
	struct taken *t, const struct packet_event *e, __u16 event)
{
	copy_event(t->slot->payload, e);
	publish(t, event);
}

#endif
