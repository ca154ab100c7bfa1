/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Datagrams whose socket is known only at IP, because this host translates their addresses, as when
 * a port is redirected, or an answer returns to a masqueraded address. The device notes each
 * datagram without a followed socket; IP sees it next, on the same CPU, and reports the note if it
 * has a socket now. Where the device finds every datagram's socket nothing is noted, and the check
 * costs one comparison.
 */
#ifndef MAGNET_BPF_LATE_H
#define MAGNET_BPF_LATE_H

#define NOTES      256 /* per CPU, a power of two: for buffers, and as many for fragments */
#define PART_UNITS 128 /* units of 8 bytes: one fragment is noted per this many */
#define MOST_PARTS 64
#define LATEST_NS  4000000000ull

struct note {
	__u64 at;       /* CLOCK_MONOTONIC, ns; 0 if there is none */
	__u64 datagram; /* fragments: a key of the datagram, else 0 */
	__u32 buffer, len, ifindex;
	__u16 headers, segs, gso_size, ip_id, frag;
	__u16 units; /* fragments: its part of the IP payload, in 8 bytes */
	__u8 proto, icmp_type;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2 * NOTES);
	__type(key, __u32);
	__type(value, struct note);
} notes SEC(".maps");
volatile __u8 any_noted SEC(".data.noted") = 0;

static __always_inline struct note *note_at(__u32 slot)
{
	return bpf_map_lookup_elem(&notes, &slot);
}

static __always_inline __u32 slot_of_buffer(__u32 buffer)
{
	return buffer & (NOTES - 1);
}

static __always_inline __u32 slot_of_part(__u64 datagram, __u16 frag)
{
	return NOTES + ((datagram + frag / PART_UNITS) & (NOTES - 1));
}

static __always_inline void put_note(__u32 slot, const struct note *n)
{
	bpf_map_update_elem(&notes, &slot, n, BPF_ANY);
}

/* Call it at the device for a datagram without a followed socket; its IP header is at `ip`. */
static __noinline void note_datagram(const struct sk_buff *skb, unsigned char *ip, int version)
{
	struct datagram d = {};
	struct packet_event e;
	struct packet g = {};
	struct note n = {};

	if (!datagram_at(&d, skb, ip, version))
		return;
	datagram_packet(&g, &d, skb);
	make_event(&e, 0, &g, skb, ifindex_of(POINTER(sk_buff, skb, dev)), VIA_OWN);
	n.at = bpf_ktime_get_ns();
	n.buffer = g.seq;
	n.len = g.len;
	n.headers = e.sizes;
	n.ifindex = event_device(&e);
	n.segs = event_segments(&e);
	n.gso_size = e.sizes >> GSO_AT;
	n.ip_id = g.ip_id;
	n.frag = g.frag;
	n.icmp_type = g.icmp_type;
	n.units = d.len / 8;
	n.proto = g.proto;
	any_noted = 1;
	if (g.frag) {
		n.datagram = fragment_key(POINTER(sk_buff, skb, dev)->nd_net.net->ns.inum, &d);
		put_note(slot_of_part(n.datagram, d.offset / 8), &n);
		if (d.offset) /* IP shows the first fragment's buffer for all of them */
			return;
	}
	put_note(slot_of_buffer(n.buffer), &n);
}

/* Call it at the device for a datagram of a followed socket: a note of its buffer is outdated. */
static __always_inline void forget_note(const struct packet *g)
{
	struct note *n;

	if (!any_noted || g->proto == IPPROTO_TCP)
		return;
	n = note_at(slot_of_buffer(g->seq));
	if (n && n->buffer == g->seq)
		n->at = 0;
}

/*
 * Reports and removes the note in this slot. The return value has no use. Like the next one it
 * takes numbers only, so that the verifier of any kernel checks it once.
 */
__noinline int tell_note(__u32 slot, __u64 sock)
{
	struct note *n = note_at(slot);
	struct taken t;
	__u64 ago;

	if (!n || !take(&t))
		return 0;
	struct mg_dev_recv_late *e = (void *)t.slot->payload;

	ago = t.slot->ts - n->at;
	e->sock = sock;
	e->seq = n->buffer;
	e->len = n->len;
	e->ago_ns = ago < LATEST_NS ? ago : LATEST_NS;
	e->ifindex = n->ifindex;
	e->headers = n->headers;
	e->segs = n->segs;
	e->gso_size = n->gso_size;
	e->ip_id = n->ip_id;
	e->frag = n->frag;
	e->icmp_type = n->icmp_type;
	e->proto = n->proto;
	n->at = 0;
	publish(&t, MG_EVENT_dev_recv_late);
	return 0;
}

/* Reports the notes of a reassembled datagram: its fragments are adjacent. */
__noinline int tell_parts(__u64 datagram, __u64 sock)
{
	__u16 frag = 0;

#pragma clang loop unroll(disable)
	for (int i = 0; i < MOST_PARTS; i++) {
		__u32 slot = slot_of_part(datagram, frag);
		const struct note *n = note_at(slot);

		if (!n || !n->at || n->datagram != datagram || (n->frag & MG_FRAG_AT) != frag)
			break;
		frag += n->units;
		tell_note(slot, sock);
	}
	return 0;
}

static __noinline void find_note(const struct packet *g, __u64 sock)
{
	__u32 slot = slot_of_buffer(g->seq);
	struct note *n = note_at(slot);

	if (!n || !n->at || n->buffer != g->seq || n->proto != g->proto)
		return;
	if (n->datagram) {
		n->at = 0;
		tell_parts(n->datagram, sock);
	} else if (n->len == g->len) {
		tell_note(slot, sock);
	}
}

/* Call it at ip_in, before that is recorded: the packet's socket is known now. */
static __always_inline void tell_late(const struct packet *g, __u64 sock)
{
	if (any_noted && g->proto != IPPROTO_TCP && !g->frag)
		find_note(g, sock);
}

#endif
