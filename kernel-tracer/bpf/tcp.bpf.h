/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* TCP itself: connections, received segments, bytes in order, retransmissions. */

/* Several sockets may listen on one port: connections are followed while one of them does. */
static __always_inline void begin_listening(const struct sock *sk)
{
	__u64 key = listener_key(sk), one = 1, *n = bpf_map_lookup_elem(&listeners, &key);

	if (n)
		__sync_fetch_and_add(n, 1);
	else if (bpf_map_update_elem(&listeners, &key, &one, BPF_ANY))
		count_not_seen(MG_NOT_SEEN_LISTENERS);
}

static __always_inline void end_listening(const struct sock *sk)
{
	__u64 key = listener_key(sk), *n = bpf_map_lookup_elem(&listeners, &key);

	if (!n)
		return;
	__sync_fetch_and_add(n, -1); /* old kernels do not support its result */
	if ((__s64) * (volatile __u64 *)n <= 0)
		bpf_map_delete_elem(&listeners, &key);
}

enum { OPENER_CONNECT = 1, OPENER_ACCEPT };

static __always_inline void listening_begins(struct sock *sk)
{
	__u64 key = (__u64)sk;

	if (!current_selects())
		return;
	begin_listening(sk);
	socket_cookie(sk); /* accept() identifies it by that */
	remember_drops(key, BPF_CORE_READ(sk, sk_drops.counter));
	check_netns(POINTER(sock, sk, __sk_common.skc_net.net), bpf_get_current_pid_tgid() >> 32);
}

static __always_inline void listening_ends(struct sock *sk)
{
	__u64 key = (__u64)sk;

	/* a new connection also begins as a copy */
	if (bpf_map_lookup_elem(&listen_drops, &key)) {
		tell_drops(sk, socket_cookie(sk));
		bpf_map_delete_elem(&listen_drops, &key);
	}
	end_listening(sk);
}

/* connect(), perhaps again on the same socket: `known` is its entry from before, or NULL. */
static __always_inline void connecting_begins(
	struct sock *sk, const struct tcp_sock *tp, const struct sock_entry *known, int old)
{
	__u64 before = known ? known->cookie : 0, key = (__u64)sk;
	struct sock_entry entry = {};

	forget(sk);
	if (!current_selects())
		return;
	if (judge_tcp(sk) != WANTED) {
		entry.tuple = judge_tcp(sk) == UNDECIDED;
		if (entry.tuple)
			bpf_map_update_elem(&undecided, &key, &entry.tuple, BPF_ANY);
		return;
	}
	entry.cookie = cookie_again(sk, before);
	if (bpf_map_update_elem(&socks, &key, &entry, BPF_ANY))
		count_not_followed(number_counted(sk, entry.cookie));
	tables_changed();
	emit_state(sk, tp, entry.cookie, old, TCP_SYN_SENT, OPENER_CONNECT);
	check_netns(POINTER(sock, sk, __sk_common.skc_net.net), bpf_get_current_pid_tgid() >> 32);
}

static __always_inline void connection_established(
	struct sock *sk, const struct tcp_sock *tp, const struct sock_entry *known, int old)
{
	__u64 key = listener_key(sk), self = (__u64)sk, cookie;

	if (!known) {
		if (!cfg.all && !bpf_map_lookup_elem(&listeners, &key) &&
			!bpf_map_lookup_elem(&undecided, &self))
			return;
		if (settings.active)
			bpf_map_delete_elem(&undecided, &self);
		if (judge_tcp(sk) != WANTED)
			return;
	}
	cookie = known ? known->cookie : socket_cookie(sk);
	/* the SYN carried data: then its number alone does not show where they begin */
	if (tp->bytes_received || tp->bytes_sent)
		emit_open(tp, cookie);
	emit_state(sk, tp, cookie, old, TCP_ESTABLISHED,
		old == TCP_SYN_SENT ? OPENER_CONNECT : OPENER_ACCEPT);
	select_connected(sk, cookie);
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(on_sock_state, struct sock *sk, int old, int now)
{
	struct sock_entry *known = sock_at(sk);
	struct tcp_sock *tp;

	if (sk->sk_protocol != IPPROTO_TCP)
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	if (now == TCP_LISTEN || now == TCP_SYN_SENT || now == TCP_ESTABLISHED)
		ends_change(sk);
	if (now == TCP_LISTEN) {
		if (known) /* it was connected before */
			forget(sk);
		listening_begins(sk);
		return 0;
	}
	if (now == TCP_SYN_SENT) {
		connecting_begins(sk, tp, known, old);
		return 0;
	}
	if (now == TCP_ESTABLISHED) {
		connection_established(sk, tp, known, old);
		return 0;
	}
	if (old == TCP_LISTEN && now == TCP_CLOSE)
		listening_ends(sk);
	if (!known)
		return 0;
	emit_state(sk, tp, known->cookie, old, now, 0);
	/* tcp_recv does not fire any more */
	if (old == TCP_ESTABLISHED && tp->write_seq != tp->snd_nxt)
		tell_room(sk, known->cookie);
	if (now == TCP_CLOSE) {
		state_at_close(sk, tp, known->cookie, &known->tcp);
		unbind(known); /* but its queue can still be read */
	}
	return 0;
}

SEC("tp_btf/tcp_destroy_sock")
int BPF_PROG(on_tcp_destroy, struct sock *sk)
{
	forget(sk);
	return 0;
}

/* Fires when a program has read: the first sight of connections it only receives on. */
SEC("tp_btf/tcp_rcv_space_adjust")
int BPF_PROG(on_tcp_used, struct sock *sk)
{
	struct tcp_sock *tp;

	if (cookie_of(sk) || !is_wanted_late(sk))
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	if (tp)
		select_late(sk, tp);
	return 0;
}

SEC("tp_btf/tcp_probe")
int BPF_PROG(on_tcp_recv, struct sock *sk, struct sk_buff *skb)
{
	__u64 cookie = cookie_of(sk);
	struct sock_entry *known;
	struct tcp_sock *tp;
	struct packet g;

	if (!cookie && (!cfg.all || judge_connected(sk) != WANTED))
		return 0;
	tp = TCP_SOCK(sk);
	if (!tp)
		return 0;
	if (!cookie) {
		select_late(sk, tp);
		cookie = cookie_of(sk);
		if (!cookie)
			return 0;
	}
	if (!segment_at_transport(&g, skb))
		return 0;
	EMIT_HERE(tcp_recv, mg_tcp_recv, e, {
		e->sock = cookie;
		e->seq = g.seq;
		e->len = g.len;
		e->rcv_nxt = tp->rcv_nxt;
		e->copied_seq = tp->copied_seq;
		e->snd_una = tp->snd_una;
		e->snd_wnd = tp->snd_wnd;
		e->srtt_us = tp->srtt_us >> 3;
		e->cwnd = tp->snd_cwnd;
	});
	if (!changes_memory(&g))
		return 0;
	known = sock_at(sk);
	if (known)
		state_at_recv(sk, tp, &g, cookie, &known->tcp);
	return 0;
}

/*
 * Records data queued for a UNIX socket that no process has accepted yet and that has no number: at
 * the sender, whose call this is.
 */
static __always_inline int unaccepted_ready(struct sock *sk)
{
	struct task_state *state = current_task();
	struct other peer = {};
	__u64 key = (__u64)sk;

	if (sk->__sk_common.skc_family != AF_UNIX || sk->__sk_common.skc_state != TCP_ESTABLISHED ||
		!state || !state->call || !state->other)
		return 0;
	peer.verdict = UNACCEPTED;
	peer.id = state->sock;
	peer.kind = kind_of(AF_UNIX, sk->sk_type, 0);
	if (peer.kind == MG_KIND_unix_dgram)
		return 0;
	store_other(key, &peer);
	EMIT(sock_ready, mg_sock_ready, e, {
		e->sock = state->sock;
		e->queued = ~0u;
		last_in_queue(e, sk);
		e->kind = peer.kind;
	});
	return 0;
}

static __always_inline int other_ready(struct sock *sk)
{
	struct other *o;

	if (sk->sk_protocol == IPPROTO_TCP) /* UNIX sockets have none */
		return 0;
	if (everything(bpf_get_current_task_btf()))
		meet_other(sk);
	o = other_of(sk);
	if (!o && was_evicted(sk)) {
		meet_other(sk);
		o = other_of(sk);
	}
	/* without an inode it is a newer one at the same address */
	if (!o || !inode_of(sk))
		return inode_of(sk) ? 0 : unaccepted_ready(sk);
	EMIT(sock_ready, mg_sock_ready, e, {
		e->sock = o->id;
		e->queued = receive_queue(sk);
		last_in_queue(e, sk);
		e->kind = o->kind;
	});
	return 0;
}

static __always_inline int data_ready(struct sock *sk)
{
	__u64 cookie = cookie_of(sk);
	struct tcp_sock *tp;

	if (!cookie)
		return other_ready(sk);
	tp = TCP_SOCK(sk);
	if (!tp)
		return 0;
	EMIT_HERE(tcp_ready, mg_tcp_ready, e, {
		e->sock = cookie;
		e->rcv_nxt = tp->rcv_nxt;
		e->copied_seq = tp->copied_seq;
	});
	return 0;
}

SEC("tp_btf/sk_data_ready")
int BPF_PROG(on_tcp_ready, struct sock *sk)
{
	return data_ready(sk);
}

/* Replacement for that tracepoint, which exists since Linux 6.4. */
SEC("fentry/sock_def_readable")
int BPF_PROG(on_readable, struct sock *sk)
{
	return data_ready(sk);
}

static __always_inline int retransmit(void *ctx, struct sock *sk, struct sk_buff *skb, int err)
{
	struct sock_entry *known = sock_at(sk);
	/* in the write queue the control block holds the sequence numbers */
	struct tcp_skb_cb *cb = (void *)__builtin_preserve_access_index(&skb->cb);
	struct tcp_sock *tp;

	if (!known)
		return 0;
	EMIT(tcp_retransmit, mg_tcp_retransmit, e, {
		e->sock = known->cookie;
		e->seq = BPF_CORE_READ(cb, seq);
		e->len = skb->len;
		e->err = err;
		e->segs = BPF_CORE_READ(cb, tcp_gso_segs);
		e->syn_ack = 0;
	});
	stacks_at(ctx, known->cookie, MG_EVENT_stack_retransmit);
	tp = bpf_skc_to_tcp_sock(sk);
	if (tp)
		state_at_retransmit(sk, tp, known->cookie, &known->tcp);
	return 0;
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(on_retransmit, struct sock *sk, struct sk_buff *skb, int err)
{
	return retransmit(ctx, sk, skb, err);
}

SEC("tp_btf/tcp_retransmit_skb")
int BPF_PROG(on_retransmit_old, struct sock *sk, struct sk_buff *skb)
{
	return retransmit(ctx, sk, skb, 0);
}

/*
 * Records a retransmitted SYN-ACK. The request has no socket yet: its number is that of segments
 * which arrive for it, and its initial sequence number identifies the socket it becomes.
 */
SEC("tp_btf/tcp_retransmit_synack")
int BPF_PROG(on_synack_again, struct sock *listener, struct sock *request)
{
	__u64 key = listener_key(listener);
	struct endpoints ends = {};

	if (!cfg.all && !bpf_map_lookup_elem(&listeners, &key))
		return 0;
	read_ends(request, &ends);
	if (settings.active && judge(&ends, MG_KIND_tcp) != WANTED)
		return 0;
	EMIT(tcp_retransmit, mg_tcp_retransmit, e, {
		e->sock = MG_REQUEST_ID | tuple_of(ends.netns, ends.laddr, ends.raddr,
						  bpf_htons(ends.lport), bpf_htons(ends.rport));
		e->seq = BPF_CORE_READ((struct tcp_request_sock *)request, snt_isn);
		e->len = 0;
		e->err = 0;
		e->segs = 1;
		e->syn_ack = 1;
	});
	return 0;
}
