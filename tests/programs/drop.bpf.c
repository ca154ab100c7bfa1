/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * tc programs that drop every 50th full-size frame, full-size frames by number, all frames, or the
 * first pure acknowledgement of each TCP connection; and an XDP program that drops datagrams.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* a lock, as kernels before 5.12 have no atomic addition that returns the old value */
struct count {
	struct bpf_spin_lock lock;
	__u64 n;
};
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct count);
} seen SEC(".maps");

/*
 * Returns whether the frame is number `first` of full size or, with `every`, each so many-th from
 * there.
 */
static __always_inline int choose(struct __sk_buff *skb, __u64 first, __u64 every)
{
	__u32 zero = 0;
	struct count *c = bpf_map_lookup_elem(&seen, &zero);
	__u64 k;

	if (!c || skb->len < 500)
		return TC_ACT_OK;
	bpf_spin_lock(&c->lock);
	k = ++c->n;
	bpf_spin_unlock(&c->lock);
	if (every)
		return k >= first && (k - first) % every == 0 ? TC_ACT_SHOT : TC_ACT_OK;
	return k == first ? TC_ACT_SHOT : TC_ACT_OK;
}

#define DROP(name, section, first, every)          \
	SEC(section) int name(struct __sk_buff *s) \
	{                                          \
		return choose(s, first, every);    \
	}

DROP(drop, "tc", 50, 50)
DROP(drop_5, "tc/5", 5, 0)
DROP(drop_77, "tc/77", 77, 0)
DROP(drop_every_13, "tc/every13", 13, 13)

SEC("tc/all")
int drop_all(struct __sk_buff *skb)
{
	return TC_ACT_SHOT;
}

#define ETHERNET 14
#define TCP      6
#define ACK      16

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32); /* both ports */
	__type(value, __u8);
} acknowledged SEC(".maps");

/*
 * Returns where the TCP header of an IPv4 or IPv6 packet begins, and its payload's size; 0 if it is
 * none.
 */
static __always_inline __u32 tcp_at(struct __sk_buff *skb, __u32 *size)
{
	struct {
		__u8 version_ihl, tos;
		__be16 length; /* IPv6: half of the flow label */
		__be16 payload;
		__u8 next, hops, ttl, protocol;
	} ip;
	__u8 words;
	__u32 at;

	if (bpf_skb_load_bytes(skb, ETHERNET, &ip, sizeof(ip)))
		return 0;
	at = ip.version_ihl >> 4 == 6 ? 40 : (ip.version_ihl & 15) * 4;
	if ((at == 40 ? ip.next : ip.protocol) != TCP ||
		bpf_skb_load_bytes(skb, ETHERNET + at + 12, &words, 1))
		return 0;
	*size = (at == 40 ? bpf_ntohs(ip.payload) : bpf_ntohs(ip.length) - at) - (words >> 4) * 4;
	return ETHERNET + at;
}

SEC("tc/third")
int drop_third(struct __sk_buff *skb)
{
	__u32 size = 0, at = tcp_at(skb, &size), ports;
	__u8 flags, one = 1;

	if (!at || size || bpf_skb_load_bytes(skb, at, &ports, sizeof(ports)) ||
		bpf_skb_load_bytes(skb, at + 13, &flags, 1) || flags != ACK ||
		bpf_map_update_elem(&acknowledged, &ports, &one, BPF_NOEXIST))
		return TC_ACT_OK;
	return TC_ACT_SHOT;
}

/* Drops every IPv4 datagram to port 5555. */
SEC("xdp")
int drop_datagrams(struct xdp_md *x)
{
	unsigned char *frame = (void *)(long)x->data, *end = (void *)(long)x->data_end;

	if (frame + 38 > end || frame[12] != 8 || frame[13] != 0 || frame[23] != 17)
		return XDP_PASS;
	return frame[36] == 5555 >> 8 && frame[37] == (5555 & 255) ? XDP_DROP : XDP_PASS;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
