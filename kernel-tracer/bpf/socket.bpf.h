/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Between the program's memory and the socket's queues. */

static __always_inline int tcp_send(struct sock *sk, __u32 left, __u32 skb_len)
{
	__u64 cookie = cookie_of(sk);
	struct sock_entry *known;
	struct tcp_sock *tp;

	if (!cookie && !is_wanted_late(sk))
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
	EMIT_HERE(tcp_send, mg_tcp_send, e, {
		e->sock = cookie;
		e->seq = tp->write_seq;
		e->left = left;
		e->snd_una = tp->snd_una;
		e->snd_nxt = tp->snd_nxt;
		e->snd_wnd = tp->snd_wnd;
		e->cwnd = tp->snd_cwnd;
		e->wmem_queued = sk->sk_wmem_queued;
		e->skb_len = skb_len;
	});
	if (settings.level == MG_LEVEL_none)
		return 0;
	known = sock_at(sk);
	if (known)
		emit_state_of(sk, tp, cookie, &known->tcp);
	return 0;
}

SEC("tp_btf/tcp_sendmsg_locked")
int BPF_PROG(on_tcp_send, struct sock *sk, struct msghdr *msg, struct sk_buff *skb)
{
	return tcp_send(sk, msg->msg_iter.count, skb ? skb->len : 0);
}

/* Variant without that tracepoint: once per call, before the first byte is copied. */
SEC("fentry/tcp_sendmsg_locked")
int BPF_PROG(on_tcp_send_begin, struct sock *sk, struct msghdr *msg, __u64 size)
{
	return tcp_send(sk, size, 0);
}

/*
 * A buffer in TCP's receive queue belongs to its socket; others have no socket, or the sender's,
 * but are copied within a system call on it.
 */
SEC("tp_btf/skb_copy_datagram_iovec")
int BPF_PROG(on_sock_copy, struct sk_buff *skb, int len)
{
	struct sock *sk = skb->sk;
	__u64 sock = sk ? cookie_of(sk) : 0;
	const struct tcp_sock *tp;
	struct task_state *state;

	if (!len)
		zerocopy_taken(skb);
	if (!sock) {
		if (sk && sk->sk_protocol == IPPROTO_TCP && sk->sk_type == SOCK_STREAM &&
			internet(sk->__sk_common.skc_family)) /* TCP's, and not followed */
			return 0;
		state = current_task();
		if (!state || !state->call || !state->other)
			return 0;
		EMIT_HERE(sock_copy, mg_sock_copy, e, {
			e->sock = state->sock;
			e->seq = buffer_of(skb);
			e->len = len;
			e->rcv_nxt = 0;
		});
		return 0;
	}
	tp = CAST(tcp_sock, sk);
	EMIT_HERE(sock_copy, mg_sock_copy, e, {
		e->sock = sock;
		e->seq = GET(tp, copied_seq);
		e->len = len;
		e->rcv_nxt = GET(tp, rcv_nxt);
	});
	return 0;
}

/* Records data moved; TCP sockets, whose own events say more, leave here first. */
static __always_inline int moved(struct sock *sk, int ret, int flags, __u16 event)
{
	struct mg_sock_moved *e;
	struct other *o;
	struct taken t;

	if (sk->sk_protocol == IPPROTO_TCP && internet(sk->__sk_common.skc_family))
		return 0;
	if (!current_selects())
		return 0;
	o = other_of(sk);
	if (!o || !o->settled) { /* sending may have given it a port */
		if (!meet_other(sk))
			return 0;
		o = other_of(sk);
	}
	if (!o || !take(&t))
		return 0;
	e = (void *)t.slot->payload;
	e->sock = o->id;
	e->ret = ret;
	e->flags = flags;
	e->kind = o->kind;
	e->next = 0;
	if (event == MG_EVENT_sock_received) {
		e->queued = receive_queue(sk);
		e->next = next_to_read(sk);
	} else {
		bpf_probe_read_kernel(&e->queued, sizeof(e->queued), &sk->sk_wmem_alloc);
	}
	publish(&t, event);
	return 0;
}

SEC("tp_btf/sock_send_length")
int BPF_PROG(on_sock_sent, struct sock *sk, int ret, int flags)
{
	return moved(sk, ret, flags, MG_EVENT_sock_sent);
}

SEC("tp_btf/sock_recv_length")
int BPF_PROG(on_sock_received, struct sock *sk, int ret, int flags)
{
	return moved(sk, ret, flags, MG_EVENT_sock_received);
}
