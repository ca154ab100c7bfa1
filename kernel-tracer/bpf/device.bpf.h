/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Network devices: the queue, the driver, and reception. */

static __always_inline void dev_sending(
	struct sk_buff *skb, __u16 event, struct segment *g, struct sock_entry **known)
{
	struct taken t;

	*known = NULL;
	if (!skb->sk)
		return;
	*known = sock_of(skb->sk);
	if (!*known)
		return;
	if (!segment_at_transport(g, skb)) {
		*known = NULL;
		return;
	}
	if (!take(&t))
		return;
	fill_packet((void *)t.slot->payload, (*known)->cookie, g, skb, skb->dev);
	publish(&t, event);
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(on_dev_queue, struct sk_buff *skb)
{
	struct sock_entry *known;
	struct segment g;

	dev_sending(skb, MG_EVENT_dev_queue, &g, &known);
	return 0;
}

/*
 * When the driver is done the buffer may be gone, so what it was is kept from when it was handed
 * over: a few places a CPU, since stacked devices transmit within each other.
 */
struct handed {
	__u64 skb, cookie;
	__u32 seq, len;
};
#define HANDED 4
struct handed_cpu {
	struct handed h[HANDED];
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct handed_cpu);
} handed SEC(".maps");

/* The place of a buffer, or with 0 a free one; else the first. */
static __always_inline struct handed *handed_slot(__u64 skb)
{
	__u32 zero = 0;
	struct handed_cpu *c = bpf_map_lookup_elem(&handed, &zero);

	if (!c)
		return NULL;
	for (int i = 0; i < HANDED; i++)
		if (c->h[i].skb == skb)
			return &c->h[i];
	return &c->h[0];
}

SEC("tp_btf/net_dev_start_xmit")
int BPF_PROG(on_dev_xmit, struct sk_buff *skb)
{
	struct sock_entry *known;
	struct handed *h;
	struct segment g;

	dev_sending(skb, MG_EVENT_dev_xmit, &g, &known);
	if (!known)
		return 0;
	h = handed_slot(0);
	if (h) {
		h->skb = (__u64)skb;
		h->cookie = known->cookie;
		h->seq = g.seq;
		h->len = g.len;
	}
	return 0;
}

SEC("tp_btf/net_dev_xmit")
int BPF_PROG(on_dev_done, struct sk_buff *skb, int rc, struct net_device *dev)
{
	struct handed *h = handed_slot((__u64)skb);

	if (!h || h->skb != (__u64)skb)
		return 0;
	h->skb = 0;
	EMIT(dev_done, mg_dev_done, e, {
		e->sock = h->cookie;
		e->seq = h->seq;
		e->len = h->len;
		e->rc = rc;
		e->ifindex = dev->ifindex;
	});
	return 0;
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(on_dev_recv, struct sk_buff *skb)
{
	struct segment g;
	__u64 tuple, *cookie;

	if (!segment_at_ip(&g, &tuple, skb, skb->dev->nd_net.net->ns.inum))
		return 0;
	cookie = bpf_map_lookup_elem(&tuples, &tuple);
	if (cookie)
		EMIT(dev_recv, mg_packet, e, fill_packet(e, *cookie, &g, skb, skb->dev));
	return 0;
}
