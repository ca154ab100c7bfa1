/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The filters' verdict on a TCP socket. With filters, most calls are on sockets that they refuse,
 * again and again: the numbers of such sockets are remembered, each at a place as in
 * followed.bpf.h, since the filters take several times as many instructions. The verdict depends on
 * the filters and on the socket's ends: the loader empties the places when it changes the filters,
 * and a socket that gets other ends is forgotten. One whose place a later one has taken is judged
 * again.
 */
#ifndef MAGNET_BPF_VERDICT_H
#define MAGNET_BPF_VERDICT_H

static __always_inline int judge_tcp(const struct sock *sk)
{
	struct endpoints e;

	if (!settings.active)
		return WANTED;
	sock_addresses(sk, e.laddr, e.raddr);
	e.netns = POINTER(sock, sk, __sk_common.skc_net.net)->ns.inum;
	e.lport = sk->__sk_common.skc_num;
	e.rport = bpf_ntohs(sk->__sk_common.skc_dport);
	return judge(&e, MG_KIND_tcp);
}

#ifdef MG_OLD /* a socket may have another number there each time */
#define is_refused(number)  ((void)(number), false)
#define judge_connected(sk) judge_tcp(sk)
#define ends_change(sk)
#else

static __always_inline volatile __u64 *refused_place(__u64 number)
{
	return &places_by_number.refused[place_number(number)];
}

/* Returns whether the socket with this number is known to be refused. */
static __always_inline bool is_refused(__u64 number)
{
	return settings.active && number && *refused_place(number) == mark_now(number);
}

/* The same as judge_tcp() for a socket that may be connected, and asked about again. */
static __always_inline int judge_connected(struct sock *sk)
{
	__u64 number = sk->__sk_common.skc_cookie.counter, round = settings.round;
	int verdict;

	if (is_refused(number))
		return REFUSED;
	verdict = judge_tcp(sk);
	if (verdict == REFUSED && sk->__sk_common.skc_state == TCP_ESTABLISHED) {
		number = socket_cookie(sk);
		*refused_place(number) = mark_in(number, round);
	}
	return verdict;
}

/* Call it for a socket that connects, perhaps again, has connected, or listens. */
static __always_inline void ends_change(const struct sock *sk)
{
	__u64 number = sk->__sk_common.skc_cookie.counter;

	if (is_refused(number))
		*refused_place(number) = 0;
}

#endif

#endif
