/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* tc programs that drop: every 50th TCP segment with payload, counted from the 50th; and all. */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} seen SEC(".maps");

SEC("tc")
int drop(struct __sk_buff *skb)
{
	__u32 zero = 0;
	__u64 *n = bpf_map_lookup_elem(&seen, &zero);

	if (!n || skb->len < 500) /* frames of full size only */
		return TC_ACT_OK;
	return __sync_fetch_and_add(n, 1) % 50 == 49 ? TC_ACT_SHOT : TC_ACT_OK;
}

SEC("tc/all")
int drop_all(struct __sk_buff *skb)
{
	return TC_ACT_SHOT;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
