/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The kernel's own transmit timestamps, since Linux 6.15: it calls a program as connections open,
 * and for the segment that ends a send where that asked for it.
 */
#ifndef MAGNET_BPF_TIMESTAMPS_H
#define MAGNET_BPF_TIMESTAMPS_H

/*
 * Connections of traced processes that were open before: the number of their network namespace, by
 * the address of their struct sock. All ways to compile the programs have the same maps.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u32);
} open_before SEC(".maps");

#if CAN_CAST

#define SOL_SOCKET                1
#define SK_BPF_CB_FLAGS           1009
#define SK_BPF_CB_TX_TIMESTAMPING 1

/* occasions beyond those that <linux/bpf.h> may know */
enum { TSTAMP_SCHED = 16, TSTAMP_SND_SW, TSTAMP_SND_HW, TSTAMP_ACK, TSTAMP_SENDMSG };

extern void *bpf_cast_to_kern_ctx(void *ctx) __ksym;
/* weak: older kernels have none, and load the other programs */
extern int bpf_sock_ops_enable_tx_tstamp(
	struct bpf_sock_ops_kern *skops, __u64 flags) __ksym __weak;

/* Returns whether connection_established() follows this socket, or is going to. */
static __always_inline bool is_connected_to_follow(const struct sock *sk, bool accepted)
{
	__u64 key;

	if (cookie_of(sk)) /* it has connected, perhaps to itself */
		return true;
	if (!accepted)
		return false;
	if (!cfg.all) {
		key = listener_key(sk);
		if (!bpf_map_lookup_elem(&listeners, &key))
			return false;
	}
	return judge_tcp(sk) == WANTED;
}

/*
 * Returns the number of a socket that is sending, 0 if it is not followed. The filters may have
 * changed, or the socket may have been passed to a process that is traced.
 */
static __always_inline __u64 followed_sender(struct bpf_sock_ops *ctx, const struct sock *sk)
{
	__u64 cookie = cookie_of(sk), round = settings.round;

	if (cookie)
		return cookie;
	cookie = bpf_get_socket_cookie(ctx); /* it may have had none */
	if (is_refused(cookie))
		return 0;
	if (judge_tcp(sk) != WANTED) {
		*refused_place(cookie) = mark_in(cookie, round);
		return 0;
	}
	if (!current_selects())
		return 0;
	select_late_as(sk, CAST(tcp_sock, sk), cookie);
	return cookie_of(sk);
}

static __always_inline void emit_send_stamp(const struct tcp_sock *tp, __u64 cookie)
{
	EMIT(stamp_send, mg_stamp_send, e, {
		e->sock = cookie;
		e->end = tp->write_seq;
		e->snd_una = tp->snd_una;
		e->snd_nxt = tp->snd_nxt;
		e->snd_wnd = tp->snd_wnd;
		e->cwnd = tp->snd_cwnd;
		e->in_flight = tp->packets_out;
		e->srtt_us = tp->srtt_us >> 3;
	});
}

/* Records the timestamp of a segment that ends a send: its key is the number of the last byte. */
static __always_inline void emit_stamp(const struct sk_buff *skb, __u64 cookie, __u32 op)
{
	const struct skb_shared_info *shared =
		CAST(skb_shared_info, (void *)(skb->head + skb->end));
	const struct net_device *dev = op == TSTAMP_ACK ? NULL : skb->dev;
	__u32 ifindex = dev ? dev->ifindex : 0;
	__u16 event = op == TSTAMP_SCHED    ? MG_EVENT_stamp_queue
		      : op == TSTAMP_SND_SW ? MG_EVENT_stamp_driver
					    : MG_EVENT_stamp_ack;

	EMIT_IF(take(&taken_), event, mg_stamp, e, {
		e->sock = cookie;
		e->end = shared->tskey + 1;
		e->ifindex = ifindex;
	});
}

SEC("sockops")
int on_timestamp(struct bpf_sock_ops *ctx)
{
	struct bpf_sock_ops_kern *kern = bpf_cast_to_kern_ctx(ctx);
	const struct sock *sk = kern->sk;
	int on = SK_BPF_CB_TX_TIMESTAMPING;
	__u32 op = ctx->op;
	__u64 cookie;

	if (op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB || op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB) {
		if (is_connected_to_follow(sk, op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB))
			bpf_setsockopt(ctx, SOL_SOCKET, SK_BPF_CB_FLAGS, &on, sizeof(on));
		return 1;
	}
	if (op < TSTAMP_SCHED || op > TSTAMP_SENDMSG || op == TSTAMP_SND_HW)
		return 1;
	if (op != TSTAMP_SENDMSG) {
		cookie = cookie_of(sk);
		if (cookie)
			emit_stamp(kern->skb, cookie, op);
		return 1;
	}
	cookie = followed_sender(ctx, sk);
	if (!cookie)
		return 1;
	emit_send_stamp(CAST(tcp_sock, sk), cookie);
	bpf_sock_ops_enable_tx_tstamp(kern, 0);
	return 1;
}

/* ---- connections that were open before ---- */

/* Run once when tracing begins: finds them by the files of processes. */
SEC("iter/task_file")
int find_connections(struct bpf_iter__task_file *ctx)
{
	struct task_struct *t = ctx->task;
	struct file *f = ctx->file;
	struct sock *sk;
	__u32 inum;
	__u64 key;

	if (!t || !f || cfg.all || !task_traced(t))
		return 0;
	sk = sock_of_file(f);
	if (!sk || MEMBER(sock, sk, sk_protocol) != IPPROTO_TCP)
		return 0;
	key = number_of(sk);
	inum = MEMBER_OF(sock, sk, __sk_common.skc_net.net, ns.inum);
	if (bpf_map_update_elem(&open_before, &key, &inum, BPF_ANY))
		count_not_followed(key);
	/* the tracer enters it, as the kernel lists the sockets of the current one */
	check_netns_number(inum, t->tgid);
	return 0;
}

/* Run after that in each network namespace: only here the kernel takes the socket's request. */
SEC("iter/tcp")
int time_connections(struct bpf_iter__tcp *ctx)
{
	struct sock *sk = (struct sock *)ctx->sk_common;
	int on = SK_BPF_CB_TX_TIMESTAMPING;
	__u64 key = (__u64)sk;
	struct tcp_sock *tp;
	__u8 state;

	if (!sk || (!cfg.all && !bpf_map_lookup_elem(&open_before, &key)))
		return 0;
	state = sk->__sk_common.skc_state;
	if (state != TCP_ESTABLISHED && state != TCP_CLOSE_WAIT)
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp || judge_tcp(sk) != WANTED)
		return 0;
	if (!cookie_of(sk))
		select_late(sk, tp);
	bpf_setsockopt(tp, SOL_SOCKET, SK_BPF_CB_FLAGS, &on, sizeof(on));
	return 0;
}

#endif

#endif
