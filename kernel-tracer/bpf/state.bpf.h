/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The state of a connection, recorded with each TCP event as the level demands. */
#ifndef MAGNET_BPF_STATE_H
#define MAGNET_BPF_STATE_H

/* State of a socket reported last, in its entry of `socks`. */
struct tcp_memory {
	__u64 ca_ops;   /* its congestion control */
	__u32 rto_una;  /* snd_una at the last timeout */
	__u8 rto_row;   /* consecutive timeouts then */
	__u8 ca_state;  /* used only where a change has no tracepoint */
	__u8 own_zero;  /* whether the window offered is zero */
	__u8 peer_zero; /* whether the peer's is */
};

static __always_inline __u64 jiffies_us(__u64 jiffies)
{
	return jiffies * cfg.jiffy >> 10;
}

static __always_inline const struct inet_connection_sock *icsk_of(const struct tcp_sock *tp)
{
	return (const void *)tp;
}

static __always_inline __u16 at_most_u16(__u32 n)
{
	return n < 0xffff ? n : 0xffff;
}

static __always_inline void emit_algorithm(
	const struct tcp_sock *tp, __u64 cookie, struct tcp_memory *m)
{
	const struct tcp_congestion_ops *ops = icsk_of(tp)->icsk_ca_ops;

	if (m->ca_ops == (__u64)ops)
		return;
	m->ca_ops = (__u64)ops;
	EMIT(tcp_algorithm, mg_tcp_algorithm, e, {
		e->sock = cookie;
		copy_name(e->name, ops->name);
	});
}

static __always_inline void emit_light(const struct tcp_sock *tp, __u64 cookie)
{
	EMIT(tcp_state, mg_tcp_state, e, {
		e->sock = cookie;
		e->snd_wnd = tp->snd_wnd;
		e->srtt_us = tp->srtt_us >> 3;
		e->rto_us = jiffies_us(icsk_of(tp)->icsk_rto);
		e->packets_out = tp->packets_out;
		e->retrans_out = tp->retrans_out;
		e->snd_ssthresh = tp->snd_ssthresh;
		e->snd_cwnd = tp->snd_cwnd;
		e->rcv_wnd = tp->rcv_wnd;
	});
}

enum { CHRONO_BUSY = 1, CHRONO_RWND, CHRONO_SNDBUF };

/* Does what tcp_get_info_chrono_stats() does: the running period counts, too. */
static __always_inline void fill_chrono(struct mg_tcp_limits *e, const struct tcp_sock *tp)
{
	__u32 type = BPF_CORE_READ_BITFIELD(tp, chrono_type);
	__u32 running = (__u32)bpf_jiffies64() - tp->chrono_start;
	__u64 busy = tp->chrono_stat[0], rwnd = tp->chrono_stat[1], sndbuf = tp->chrono_stat[2];

	if (type == CHRONO_BUSY)
		busy += running;
	else if (type == CHRONO_RWND)
		rwnd += running;
	else if (type == CHRONO_SNDBUF)
		sndbuf += running;
	e->busy_us = jiffies_us(busy + rwnd + sndbuf);
	e->rwnd_limited_us = jiffies_us(rwnd);
	e->sndbuf_limited_us = jiffies_us(sndbuf);
}

static __always_inline void emit_full(
	const struct sock *sk, const struct tcp_sock *tp, __u64 cookie)
{
	EMIT(tcp_more, mg_tcp_more, e, {
		__s32 notsent = tp->write_seq - tp->snd_nxt;

		e->sock = cookie;
		e->pacing_rate = sk->sk_pacing_rate;
		e->write_seq = tp->write_seq;
		e->copied_seq = tp->copied_seq;
		e->delivered = tp->delivered;
		e->lost = tp->lost;
		e->wmem_queued = sk->sk_wmem_queued;
		e->notsent = notsent > 0 ? notsent : 0;
	});
	EMIT(tcp_limits, mg_tcp_limits, e, {
		const struct inet_connection_sock *icsk = icsk_of(tp);

		e->sock = cookie;
		fill_chrono(e, tp);
		e->sacked_out = at_most_u16(tp->sacked_out);
		e->lost_out = at_most_u16(tp->lost_out);
		e->ca_state = BPF_CORE_READ_BITFIELD(icsk, icsk_ca_state);
		e->backoff = icsk->icsk_backoff;
		e->retransmits = icsk->icsk_retransmits;
		e->probes_out = icsk->icsk_probes_out;
	});
}

/* Not inlined, so that its callers' code stays small at level none. */
static __noinline int emit_state_of(
	const struct sock *sk, const struct tcp_sock *tp, __u64 cookie, struct tcp_memory *m)
{
	if (m)
		emit_algorithm(tp, cookie, m);
	emit_light(tp, cookie);
	if (settings.level == MG_LEVEL_full)
		emit_full(sk, tp, cookie);
	return 0;
}

/* Call it after a TCP event; records what the level demands. */
static __always_inline void state_of(
	const struct sock *sk, const struct tcp_sock *tp, __u64 cookie, struct tcp_memory *m)
{
	if (settings.level != MG_LEVEL_none)
		emit_state_of(sk, tp, cookie, m);
}

#if CAN_CAST
/* A global function, which the verifier follows once. */
__noinline int emit_state_at(const __u64 *address, __u64 cookie)
{
	const void *sk = (const void *)(address ? *address : 0);

	return emit_state_of(CAST(sock, sk), CAST(tcp_sock, sk), cookie, NULL);
}
#endif

/* Does the same for a rare event that does not remember what was reported last. */
static __always_inline void state_of_rare(
	const struct sock *sk, const struct tcp_sock *tp, __u64 cookie)
{
#if CAN_CAST
	__u64 address = (__u64)sk; /* through memory: a pointer becomes a number */

	if (settings.level != MG_LEVEL_none)
		emit_state_at(&address, cookie);
#else
	state_of(sk, tp, cookie, NULL);
#endif
}

#endif
