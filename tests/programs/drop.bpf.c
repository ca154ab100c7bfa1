/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* tc programs that drop: every 50th frame of full size, others of them by their number, and all. */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

/* a lock, since kernels before 5.12 have no atomic addition that tells what was there */
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

/* Whether it is the `first` frame of full size, or, with `every`, one of every so many from there.
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

char LICENSE[] SEC("license") = "Dual MIT/GPL";
