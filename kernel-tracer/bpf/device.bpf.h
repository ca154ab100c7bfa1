/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Network devices: the queue, the driver, and reception. */

/* Also what others' namespaces do with it: bridged it still has its socket, forwarded it has none.
 */
static __always_inline bool dev_sending(
	struct sk_buff *skb, __u16 event, struct packet *g, __u64 *sock)
{
	const struct net_device *dev = skb->dev;
	const struct sock *sk = skb->sk;
	struct sock_entry *known;
	struct taken t;
	int via = VIA_OWN;

	if (sk) {
		if (!sent_by(g, sock, &known, skb, sk))
			return false;
		if (sk->__sk_common.skc_net.net != dev->nd_net.net)
			via = VIA_FROM;
	} else {
		via = on_its_way(g, sock, skb, skb->head + skb->network_header);
		if (!via)
			return false;
	}
	if (!interface_passes(dev) || !take(&t))
		return false;
	fill_packet((void *)t.slot->payload, *sock, g, skb, dev, via);
	publish(&t, event);
	return true;
}

SEC("tp_btf/net_dev_queue")
int BPF_PROG(on_dev_queue, struct sk_buff *skb)
{
	struct packet g = {};
	__u64 sock = 0;

	dev_sending(skb, MG_EVENT_dev_queue, &g, &sock);
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
	struct handed *h;
	struct packet g = {};
	__u64 sock = 0;

	if (!dev_sending(skb, MG_EVENT_dev_xmit, &g, &sock))
		return 0;
	h = handed_slot(0);
	if (h) {
		h->skb = (__u64)skb;
		h->cookie = sock;
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

static __always_inline void dev_receiving(struct sk_buff *skb, __u16 event)
{
	const struct net_device *dev = skb->dev;
	const struct sock *sk = skb->sk;
	struct sock_entry *known;
	int via = VIA_OWN;
	struct packet g = {};
	struct taken t;
	__u64 sock = 0;

	if (!arrives_for(&g, &sock, skb, dev->nd_net.net->ns.inum)) {
		if (sk)
			via = sent_by(&g, &sock, &known, skb, sk) ? VIA_FROM : VIA_OWN;
		else
			via = on_its_way(&g, &sock, skb, skb->data);
		if (!via)
			return;
	}
	if (!interface_passes(dev) || !take(&t))
		return;
	fill_packet((void *)t.slot->payload, sock, &g, skb, dev, via);
	publish(&t, event);
}

SEC("tp_btf/netif_receive_skb")
int BPF_PROG(on_dev_recv, struct sk_buff *skb)
{
	dev_receiving(skb, MG_EVENT_dev_recv);
	return 0;
}

SEC("tp_btf/napi_gro_receive_entry")
int BPF_PROG(on_dev_gro, struct sk_buff *skb)
{
	dev_receiving(skb, MG_EVENT_dev_gro);
	return 0;
}
