/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The softirq that each CPU is in: it releases what a socket sends there. The softirqs' own events
 * cover only those on top of traced threads.
 */
#ifndef MAGNET_BPF_CONTEXT_H
#define MAGNET_BPF_CONTEXT_H

/*
 * Value of the field `context` of ip_out; 0 until the first softirq, and where their hooks are not
 * attached.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} contexts SEC(".maps");

static __always_inline void set_context(__u32 context)
{
	__u32 zero = 0, *c = bpf_map_lookup_elem(&contexts, &zero);

	if (c)
		*c = context;
}

static __always_inline __u8 context_here(void)
{
	__u32 zero = 0, *c = bpf_map_lookup_elem(&contexts, &zero);

	return c ? *c : 0;
}

#endif
