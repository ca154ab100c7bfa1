/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Between the program's memory and the socket's queues. */

SEC("tp_btf/tcp_sendmsg_locked")
int BPF_PROG(on_tcp_send, struct sock *sk, struct msghdr *msg, struct sk_buff *skb)
{
	struct tcp_sock *tp = bpf_skc_to_tcp_sock(sk);
	struct sock_entry *known = sock_of(sk);

	if (!tp)
		return 0;
	if (!known) {
		if (!current_task())
			return 0;
		select_late(sk, tp);
		known = sock_of(sk);
		if (!known)
			return 0;
	}
	EMIT(tcp_send, mg_tcp_send, e, {
		e->sock = known->cookie;
		e->seq = tp->write_seq;
		e->left = msg->msg_iter.count;
		e->snd_una = tp->snd_una;
		e->snd_nxt = tp->snd_nxt;
		e->snd_wnd = tp->snd_wnd;
		e->cwnd = tp->snd_cwnd;
		e->wmem_queued = sk->sk_wmem_queued;
		e->skb_len = skb ? skb->len : 0;
	});
	state_of(sk, tp, known->cookie, &known->tcp);
	return 0;
}

/* For TCP a buffer in the receive queue belongs to its socket; other protocols have none here. */
SEC("tp_btf/skb_copy_datagram_iovec")
int BPF_PROG(on_sock_copy, struct sk_buff *skb, int len)
{
	struct sock *sk = skb->sk;
	struct tcp_sock *tp = (void *)sk;
	struct sock_entry *known;

	if (!sk)
		return 0;
	known = sock_of(sk);
	if (!known)
		return 0;
	EMIT(sock_copy, mg_sock_copy, e, {
		e->sock = known->cookie;
		e->seq = BPF_CORE_READ(tp, copied_seq);
		e->len = len;
		e->rcv_nxt = BPF_CORE_READ(tp, rcv_nxt);
	});
	return 0;
}
