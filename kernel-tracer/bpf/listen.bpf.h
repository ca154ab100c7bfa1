/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Packets that listening sockets drop: the kernel has no hook there, but counts them at the socket.
 * What it has counted is looked at as a program accepts, and as the socket closes.
 */
#ifndef MAGNET_BPF_LISTEN_H
#define MAGNET_BPF_LISTEN_H

/* How many were counted when it was looked at last. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);   /* address of the struct sock */
	__type(value, __u64); /* + 1, so that none is not 0 */
} listen_drops SEC(".maps");

static __always_inline void remember_drops(__u64 key, __u32 drops)
{
	__u64 now = (__u64)drops + 1;

	bpf_map_update_elem(&listen_drops, &key, &now, BPF_ANY);
}

/* Of one that was open before the recording nobody knows when it dropped what it has until now. */
static __noinline void tell_drops(const struct sock *sk, __u64 cookie)
{
	__u32 drops = BPF_CORE_READ(sk, sk_drops.counter);
	__u64 key = (__u64)sk, *told = bpf_map_lookup_elem(&listen_drops, &key), before;

	if (!told) {
		remember_drops(key, drops);
		return;
	}
	before = *told - 1;
	if ((__u32)before == drops)
		return;
	remember_drops(key, drops);
	EMIT_RARE(tcp_listen, mg_tcp_listen, e, {
		e->sock = cookie;
		e->drops = drops - (__u32)before;
		e->netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
		e->backlog = BPF_CORE_READ(sk, sk_ack_backlog);
		e->backlog_max = BPF_CORE_READ(sk, sk_max_ack_backlog);
		e->lport = cfg.anonymize ? 0 : BPF_CORE_READ(sk, __sk_common.skc_num);
	});
}

#endif
