/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A segment on its way through one CPU. It passes two to five hooks within microseconds, and each
 * records the same of it but for the device and the length of its headers. The first hook looks its
 * socket up, parses it and keeps what it has recorded; the later ones take that over, once they
 * have made sure that it is the same segment: the same buffer with the same socket (received: in
 * the same namespace), its headers at the same place with the same content, and the tables of
 * sockets unchanged. What is anything else is looked up and parsed as if it came first.
 */
#ifndef MAGNET_BPF_JOURNEY_H
#define MAGNET_BPF_JOURNEY_H

enum way { WAY_OUT, WAY_IN, WAYS };

/*
 * Programs may interrupt each other here, and where the kernel is preemptible, take turns. A writer
 * claims the entry; another one leaves it alone then. A reader takes over what it has copied if
 * `skb`, which a writer takes away first and puts back last, is still there.
 */
struct journey {
	__u64 busy; /* a program is writing it */
	__u64 read; /* later hooks are attached, and have asked for it */
	__u64 skb;
	__u64 th;      /* address of the TCP header */
	__u64 owner;   /* the sending socket, or the receiving namespace */
	__u64 tables;  /* generation of the tables of sockets */
	__u64 head[2]; /* first 16 bytes of the TCP header */
	__u64 ip[2];   /* received: IPv4's length and identification, and its addresses */
	__u32 rest;    /* bytes in the buffer from the TCP header on */
	__u32 network_header;
	struct packet_event e;
};

_Static_assert(sizeof(struct journey) * WAYS == MG_RING_JOURNEYS * sizeof(__u64), "journeys");

#if defined(CAN_RECALL) && CAN_CAST
#define KEEPS_JOURNEYS true

#define BARRIER() asm volatile("" ::: "memory")

/* Reads 16 bytes; any type of the kernel's that begins with two pointers serves. */
static __always_inline void read_16(__u64 out[2], __u64 at)
{
	const struct list_head *words = CAST(list_head, (void *)at);

	out[0] = (__u64)words->next;
	out[1] = (__u64)words->prev;
}

/* Reads what tells an IPv4 header from another one at the same place. */
static __always_inline void read_ip_words(__u64 out[2], __u64 ip)
{
	out[0] = (__u64)CAST(list_head, (void *)ip)->next;
	out[1] = (__u64)CAST(list_head, (void *)(ip + 12))->next;
}

static __always_inline __u64 behind_ipv4(unsigned char *ip)
{
	const volatile struct ipv4_bytes *h =
		bpf_rdonly_cast(ip, bpf_core_type_id_kernel(struct iphdr));

	return (__u64)ip + (h->version_ihl & 15) * 4;
}

static __always_inline __u32 rest_of(const struct sk_buff *skb, __u64 th)
{
	return skb->len - (__u32)(th - (__u64)skb->data);
}

static __always_inline struct journey *journey_on_cpu(enum way way)
{
	struct mg_ring *r = ring_here();

	return r ? &((struct journey *)r->journeys)[way] : NULL;
}

/*
 * Keeps what has been recorded of a segment, which is in no tunnel. Received ones are IPv4's, whose
 * header is at `ip`. `tables` is generation_now() from before its socket was looked up.
 */
static __always_inline void journey_begins(enum way way, const struct sk_buff *skb, __u64 owner,
	unsigned char *ip, __u64 tables, const struct packet_event *e)
{
	struct journey *j = journey_on_cpu(way);
	__u64 th = way == WAY_IN ? behind_ipv4(ip) : (__u64)skb->head + skb->transport_header;

	if (!j || !j->read || event_protocol(e) != IPPROTO_TCP || event_flags(e) & TCP_SYN ||
		settings.interface[0])
		return;
	if (__sync_val_compare_and_swap(&j->busy, 0, 1))
		return;
	j->skb = 0;
	BARRIER();
	j->th = th;
	j->owner = owner;
	j->tables = tables;
	read_16(j->head, th);
	if (way == WAY_IN)
		read_ip_words(j->ip, (__u64)ip);
	j->rest = rest_of(skb, th);
	j->network_header = skb->network_header;
	copy_event(&j->e, e);
	BARRIER();
	j->skb = (__u64)skb;
	BARRIER();
	*(volatile __u64 *)&j->busy = 0;
}

static __always_inline bool same_head(const struct journey *j)
{
	__u64 head[2];

	read_16(head, j->th);
	return head[0] == j->head[0] && head[1] == j->head[1];
}

/* Takes over what was kept of this buffer; false if that has been replaced meanwhile. */
static __always_inline bool take_over(
	struct packet_event *e, const struct journey *j, const struct sk_buff *skb)
{
	copy_event(e, &j->e);
	BARRIER();
	if (*(volatile __u64 *)&j->skb != (__u64)skb)
		return false;
	e->sizes = (e->sizes & ~0xffffull) | headers_of(skb, event_length(e));
	e->kinds &= (1ull << CONTEXT_AT) - 1;
	return true;
}

/* Returns what is kept; notes that somebody reads it. */
static __always_inline struct journey *journey_of(enum way way)
{
	struct journey *j = journey_on_cpu(way);

	if (j && !j->read)
		j->read = 1;
	return j;
}

/*
 * Fills in an event, but for the device, of a segment that its socket sends and that an earlier
 * hook has recorded; false if there is no such.
 */
static __always_inline bool sent_before(
	struct packet_event *e, const struct sk_buff *skb, const struct sock *sk)
{
	struct journey *j = journey_of(WAY_OUT);
	__u64 th = (__u64)skb->head + skb->transport_header;

	return j && j->skb == (__u64)skb && j->owner == (__u64)sk && j->th == th &&
	       j->network_header == skb->network_header && j->rest == rest_of(skb, th) &&
	       j->tables == generation_now() && same_head(j) && take_over(e, j, skb);
}

/* As above, of a segment that a device has received for this namespace. */
static __always_inline bool received_before(
	struct packet_event *e, const struct sk_buff *skb, __u64 net)
{
	struct journey *j = journey_of(WAY_IN);
	__u64 ip[2];

	if (!j || j->skb != (__u64)skb || j->owner != net ||
		j->network_header != skb->network_header ||
		(__u64)skb->data != (__u64)skb->head + skb->network_header ||
		j->rest != rest_of(skb, j->th) || j->tables != generation_now())
		return false;
	read_ip_words(ip, (__u64)skb->data);
	return ip[0] == j->ip[0] && ip[1] == j->ip[1] && same_head(j) && take_over(e, j, skb);
}

#else
#define KEEPS_JOURNEYS false

#define journey_begins(way, skb, owner, ip, tables, e) (void)(tables)
static __always_inline bool sent_before(
	struct packet_event *e, const struct sk_buff *skb, const struct sock *sk)
{
	return false;
}
static __always_inline bool received_before(
	struct packet_event *e, const struct sk_buff *skb, __u64 net)
{
	return false;
}

#endif

#endif
