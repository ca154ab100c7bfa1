/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Packets that listening sockets drop: the kernel has no hook for them, but counts them at the
 * socket. The count is read when a program accepts, when the socket closes, and at the end of the
 * recording. The kernel also counts each segment that it drops while its connection is still a
 * request: a third segment that finds the accept queue full is counted twice, one that
 * TCP_DEFER_ACCEPT ignores once, though nothing is lost. Those are counted when they are dropped,
 * and subtracted.
 */
#ifndef MAGNET_BPF_LISTEN_H
#define MAGNET_BPF_LISTEN_H

/* Count at the last reading. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);   /* address of the struct sock */
	__type(value, __u64); /* + 1, so that none is not 0 */
} listen_drops SEC(".maps");

/* Number of dropped segments for requests, by listener_key(). */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, __u64);
} request_drops SEC(".maps");

static __always_inline int count_request_drop(
	const struct sk_buff *skb, unsigned char *ip, int version, __u32 netns)
{
	__u64 tuple = 0, key, one = 1, *n;
	struct packet g = {};
	__u64 *port;

	if (!segment_at_ip(&g, &tuple, skb, ip, version, netns))
		return 0;
	port = bpf_map_lookup_elem(&requests, &tuple);
	if (!port || *port == NO_REQUEST)
		return 0;
	key = (__u64)netns << 16 | (*port & 0xffff);
	n = bpf_map_lookup_elem(&request_drops, &key);
	if (n)
		__sync_fetch_and_add(n, 1);
	else
		bpf_map_update_elem(&request_drops, &key, &one, BPF_ANY);
	return 0;
}

#if CAN_CAST
/* A global function, which the verifier follows once and not for each way to a drop. */
__noinline int request_drop_at(const __u64 *address, __u64 ip, int version, __u32 netns)
{
	const void *skb = (const void *)(address ? *address : 0);

	return count_request_drop(CAST(sk_buff, skb), (void *)ip, version, netns);
}
#else
static __noinline int request_drop_at(
	const struct sk_buff *skb, unsigned char *ip, int version, __u32 netns)
{
	return count_request_drop(skb, ip, version, netns);
}
#endif

/* Call it for a TCP segment that TCP drops: its IP header is at `ip`. */
static __always_inline void note_request_drop(
	const struct sk_buff *skb, unsigned char *ip, int version, __u32 netns)
{
#if CAN_CAST
	__u64 address = (__u64)skb;

	request_drop_at(&address, number_of(ip), version, netns);
#else
	request_drop_at(skb, ip, version, netns);
#endif
}

/* Returns the drops without the segments for requests. */
static __always_inline __u32 without_requests(__u64 key, __u32 drops)
{
	__u64 *n = bpf_map_lookup_elem(&request_drops, &key), off;

	if (!n)
		return drops;
	off = *n < drops ? *n : drops;
	__sync_fetch_and_add(n, -off);
	return drops - off;
}

static __always_inline void remember_drops(__u64 key, __u32 drops)
{
	__u64 now = (__u64)drops + 1;

	bpf_map_update_elem(&listen_drops, &key, &now, BPF_ANY);
}

/*
 * Reports new drops; for a socket open before the recording it is unknown when the first ones
 * happened.
 */
static __noinline void tell_drops(const struct sock *sk, __u64 cookie)
{
	__u32 drops = BPF_CORE_READ(sk, sk_drops.counter);
	__u64 key = (__u64)sk, *known = bpf_map_lookup_elem(&listen_drops, &key), before;
	__u32 more;

	if (!known) {
		remember_drops(key, drops);
		return;
	}
	before = *known - 1;
	if ((__u32)before == drops)
		return;
	remember_drops(key, drops);
	more = without_requests((__u64)BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum) << 16 |
					BPF_CORE_READ(sk, __sk_common.skc_num),
		drops - (__u32)before);
	if (!more)
		return;
	EMIT_RARE(tcp_listen, mg_tcp_listen, e, {
		e->sock = cookie;
		e->drops = more;
		e->netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
		e->backlog = BPF_CORE_READ(sk, sk_ack_backlog);
		e->backlog_max = BPF_CORE_READ(sk, sk_max_ack_backlog);
		e->lport = cfg.anonymize ? 0 : BPF_CORE_READ(sk, __sk_common.skc_num);
	});
}

#endif
