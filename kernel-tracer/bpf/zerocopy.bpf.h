/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Sends with MSG_ZEROCOPY. The kernel numbers them a socket, and tells in the socket's error queue
 * up to which number it is done with the program's pages.
 */
#define MSG_ERRQUEUE          0x2000
#define MSG_ZEROCOPY          0x4000000
#define SO_EE_ORIGIN_ZEROCOPY 5
#define ZEROCOPY_COPIED       1 /* SO_EE_CODE_ZEROCOPY_COPIED */

static __always_inline void zerocopy_begins(
	struct task_state *state, const struct sock *sk, int dir, __u32 flags)
{
	state->errors = dir == MG_DIR_RX && flags & MSG_ERRQUEUE;
	state->zerocopy = sk && dir == MG_DIR_TX && flags & MSG_ZEROCOPY ? (__u64)sk : 0;
	if (state->zerocopy)
		state->zerocopy_first = BPF_CORE_READ(sk, sk_zckey.counter);
}

/* Sends that failed may have a number, but nobody can tell which. */
static __noinline int zerocopy_sent(struct task_state *state, long ret)
{
	const struct sock *sk;
	__u32 next;

	if (!state || ret <= 0)
		return 0;
	sk = (void *)state->zerocopy;
	next = BPF_CORE_READ(sk, sk_zckey.counter);
	if (next == state->zerocopy_first)
		return 0; /* the socket has not got SO_ZEROCOPY: they were copied like others */
	EMIT(zerocopy_sent, mg_zerocopy_sent, e, {
		e->sock = state->sock;
		e->first = state->zerocopy_first;
		e->next = next;
		e->most = state->messages ? ret : 1;
	});
	return 0;
}

static __always_inline __u64 zerocopy_socket(const struct sock *sk)
{
	const struct sock_entry *known = sock_at(sk);
	const struct other *o = known ? NULL : other_of(sk);

	return known ? known->cookie : o ? o->id : 0;
}

static __always_inline bool is_zerocopy(const struct sk_buff *skb, struct sock_extended_err *notice)
{
	return !bpf_probe_read_kernel(
		       notice, sizeof(*notice), &((struct sock_exterr_skb *)&skb->cb)->ee) &&
	       notice->ee_origin == SO_EE_ORIGIN_ZEROCOPY;
}

static __always_inline void tell_zerocopy(
	__u64 cookie, const struct sock_extended_err *notice, __u8 taken)
{
	EMIT(zerocopy_done, mg_zerocopy_done, e, {
		e->sock = cookie;
		e->first = notice->ee_info;
		e->last = notice->ee_data;
		e->copied = notice->ee_code & ZEROCOPY_COPIED;
		e->taken = taken;
	});
}

/*
 * After something was put into the error queue. A notification that goes on where the last one ends
 * becomes part of it. Who waits for it has been woken before, and may have taken it out by now.
 */
SEC("tp_btf/inet_sk_error_report")
int BPF_PROG(on_zerocopy_done, const struct sock *sk)
{
	struct sock_extended_err notice = {};
	__u64 cookie = zerocopy_socket(sk);
	struct sk_buff *tail;

	if (!cookie || !BPF_CORE_READ(sk, sk_zckey.counter))
		return 0;
	tail = BPF_CORE_READ(sk, sk_error_queue.prev);
	if (!tail || (const void *)tail == (const void *)&sk->sk_error_queue)
		tell_zerocopy(cookie, &notice, 2);
	else if (is_zerocopy(tail, &notice))
		tell_zerocopy(cookie, &notice, 0);
	return 0;
}

/* Nothing is copied from it: the notification is a control message. */
static __noinline int zerocopy_taken(const struct sk_buff *skb)
{
	struct task_state *state = current_task();
	struct sock_extended_err notice;
	__u64 cookie;

	if (!state || !state->call || !state->errors || !is_zerocopy(skb, &notice))
		return 0;
	cookie = zerocopy_socket(BPF_CORE_READ(skb, sk));
	if (cookie)
		tell_zerocopy(cookie, &notice, 1);
	return 0;
}
