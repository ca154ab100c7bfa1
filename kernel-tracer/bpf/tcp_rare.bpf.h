/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rare events of a connection, recorded at every level: congestion states, timeouts, zero windows,
 * resets. The common path pays a comparison for windows, and nothing for the others.
 */
#ifndef MAGNET_BPF_TCP_RARE_H
#define MAGNET_BPF_TCP_RARE_H

#define ETIMEDOUT 110

/* Closed sockets that may still send a reset: when a program closes one the reset comes last. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);   /* address of the struct sock */
	__type(value, __u64); /* cookie */
} closed SEC(".maps");

/* ---- congestion states ---- */

static __always_inline void emit_cong(const struct tcp_sock *tp, __u64 cookie, __u8 old, __u8 now)
{
	EMIT(tcp_cong, mg_tcp_cong, e, {
		e->sock = cookie;
		e->snd_una = tp->snd_una;
		e->snd_cwnd = tp->snd_cwnd;
		e->snd_ssthresh = tp->snd_ssthresh;
		e->packets_out = tp->packets_out;
		e->lost_out = tp->lost_out;
		e->old = old;
		e->now = now;
	});
}

typedef void (*btf_trace_tcp_cong_state_set)(void *, struct sock *, const __u8);

SEC("tp_btf/tcp_cong_state_set")
int BPF_PROG(on_cong_state, struct sock *sk, __u8 now)
{
	struct sock_entry *known = sock_at(sk);
	struct tcp_sock *tp;
	__u8 old;

	if (!known)
		return 0;
	tp = bpf_skc_to_tcp_sock(sk);
	if (!tp)
		return 0;
	old = BPF_CORE_READ_BITFIELD(icsk_of(tp), icsk_ca_state);
	if (old != now)
		emit_cong(tp, known->cookie, old, now);
	return 0;
}

/*
 * Detects a change before Linux 6.1, which has no tracepoint for it, at the next event that calls
 * this.
 */
static __always_inline void compare_cong(
	const struct tcp_sock *tp, __u64 cookie, struct tcp_memory *m)
{
	__u8 now;

	if (bpf_core_type_exists(btf_trace_tcp_cong_state_set))
		return;
	now = BPF_CORE_READ_BITFIELD(icsk_of(tp), icsk_ca_state);
	if (m->ca_state == now)
		return;
	emit_cong(tp, cookie, m->ca_state, now);
	m->ca_state = now;
}

/* ---- timeouts ---- */

#define TCP_CA_LOSS 4

/* Returns whether there was room for it. */
static __always_inline bool emit_timeout(
	const struct tcp_sock *tp, __u64 cookie, __u16 count, __u8 row, bool gave_up)
{
	bool recorded = false;

	EMIT(tcp_timeout, mg_tcp_timeout, e, {
		e->sock = cookie;
		e->snd_una = tp->snd_una;
		e->rto_us = jiffies_us(icsk_of(tp)->icsk_rto);
		e->count = count;
		e->in_row = row;
		e->gave_up = gave_up;
		recorded = true;
	});
	return recorded;
}

/*
 * Returns the consecutive timeouts reported; the count restarts at 0 with each byte acknowledged.
 */
static __always_inline __u8 timeouts_recorded(const struct tcp_sock *tp, const struct tcp_memory *m)
{
	__u8 row = icsk_of(tp)->icsk_retransmits;

	return tp->snd_una == m->rto_una && m->rto_row <= row ? m->rto_row : 0;
}

/* Call it at a retransmission; records a timeout if that is its cause. */
static __always_inline void state_at_retransmit(
	const struct sock *sk, const struct tcp_sock *tp, __u64 cookie, struct tcp_memory *m)
{
	const struct inet_connection_sock *icsk = icsk_of(tp);
	__u8 row = icsk->icsk_retransmits, recorded = timeouts_recorded(tp, m);

	compare_cong(tp, cookie, m);
	/* those that find no room are recorded with the next one */
	if (row > recorded && BPF_CORE_READ_BITFIELD(icsk, icsk_ca_state) == TCP_CA_LOSS &&
		emit_timeout(tp, cookie, row - recorded, row, false)) {
		m->rto_una = tp->snd_una;
		m->rto_row = row;
	}
	state_of(sk, tp, cookie, m);
}

/*
 * Call it when a followed socket closes: the timeout that ends a connection sends nothing any more.
 */
static __always_inline void state_at_close(
	struct sock *sk, const struct tcp_sock *tp, __u64 cookie, struct tcp_memory *m)
{
	const struct inet_connection_sock *icsk = icsk_of(tp);
	__u64 key = (__u64)sk;
	__u8 row = icsk->icsk_retransmits;

	if (sk->sk_err == ETIMEDOUT && row && !icsk->icsk_probes_out)
		emit_timeout(tp, cookie, row - timeouts_recorded(tp, m) + 1, row + 1, true);
	bpf_map_update_elem(&closed, &key, &cookie, BPF_ANY);
}

/* ---- windows ---- */

/* Whether a window of zero has been seen: until then no connection need be asked whether its is. */
volatile __u8 any_zero_window SEC(".data.windows") = 0;

/*
 * Returns whether a segment with this window may change what is remembered of its connection. The
 * rest need not look that up.
 */
static __always_inline bool changes_memory(const struct packet *g)
{
	return !g->window || any_zero_window || settings.level != MG_LEVEL_none ||
	       !bpf_core_type_exists(btf_trace_tcp_cong_state_set);
}

static __always_inline void emit_window(__u64 cookie, const struct packet *g, bool own, bool closes)
{
	EMIT(tcp_window, mg_tcp_window, e, {
		e->sock = cookie;
		e->seq = g->seq;
		e->ack = g->ack;
		e->own = own;
		e->closed = closes;
	});
}

#define SYN_OR_RST 6

/* Call it when a segment leaves; records changes of the window it offers. */
static __always_inline void state_at_out(const struct packet *g, __u64 cookie, struct tcp_memory *m)
{
	bool closes = g->window == 0;

	if (closes == m->own_zero || g->flags & SYN_OR_RST)
		return;
	m->own_zero = closes;
	any_zero_window = 1;
	emit_window(cookie, g, true, closes);
}

static __always_inline bool after(__u32 a, __u32 b)
{
	return (__s32)(a - b) > 0;
}

/* Call it before a segment is processed; records the window it offers, if TCP will accept it. */
static __always_inline void state_at_recv(const struct sock *sk, const struct tcp_sock *tp,
	const struct packet *g, __u64 cookie, struct tcp_memory *m)
{
	bool closes = g->window == 0;

	compare_cong(tp, cookie, m);
	if (closes != m->peer_zero && !(g->flags & SYN_OR_RST) && !after(tp->snd_una, g->ack) &&
		!after(tp->snd_wl1, g->seq)) {
		m->peer_zero = closes;
		any_zero_window = 1;
		emit_window(cookie, g, false, closes);
	}
	state_of(sk, tp, cookie, m);
}

/*
 * Records the windows, in a state in which tcp_recv does not fire, or when the connection enters
 * one.
 */
static __noinline void tell_room(const struct sock *sk, __u64 cookie)
{
	struct tcp_sock *tp = (void *)sk;

	EMIT(tcp_room, mg_tcp_room, e, {
		e->sock = cookie;
		e->snd_una = MEMBER(tcp_sock, tp, snd_una);
		e->snd_wnd = MEMBER(tcp_sock, tp, snd_wnd);
		e->cwnd = MEMBER(tcp_sock, tp, snd_cwnd);
		e->in_flight = MEMBER(tcp_sock, tp, packets_out) +
			       MEMBER(tcp_sock, tp, retrans_out) -
			       MEMBER(tcp_sock, tp, sacked_out) - MEMBER(tcp_sock, tp, lost_out);
	});
}

/* ---- resets ---- */

#define SAME_REASON(n, name, KERNEL)                                                       \
	if (bpf_core_enum_value_exists(enum sk_rst_reason, SK_RST_REASON_##KERNEL) &&      \
		reason == bpf_core_enum_value(enum sk_rst_reason, SK_RST_REASON_##KERNEL)) \
		return n;
static __noinline int reset_reason(__u32 reason)
{
	MG_RESETS(SAME_REASON)
	return MG_RESET_unknown;
}

/* Returns the socket of a reset that is sent: a followed one, or one closed just now. */
static __always_inline __u64 resetting(const struct sock *sk, __u64 key)
{
	struct sock_entry *known = bpf_map_lookup_elem(&socks, &key);
	__u64 *cookie;

	if (known)
		return known->cookie;
	cookie = bpf_map_lookup_elem(&closed, &key);
	/* the address may be another socket's by now */
	if (!cookie || *cookie != (__u64)BPF_CORE_READ(sk, __sk_common.skc_cookie.counter))
		return 0;
	return *cookie;
}

/*
 * Fills in a reset without a socket, recorded if it is sent in a traced thread's context, as on
 * loopback, or with `all`. Its ports are those of the segment it answers; filters that need more
 * cannot decide.
 */
static __always_inline bool answers(struct mg_tcp_reset *e, const struct sk_buff *skb)
{
	unsigned char *th = BPF_CORE_READ(skb, head) + BPF_CORE_READ(skb, transport_header);
	__u8 by = settings.active;
	struct tcp_bytes t;

	if (!current_selects() || by & (MG_FILTERS_ADDRESS | MG_FILTERS_SAMPLE) ||
		(by & MG_FILTERS_PROTOCOL && !(settings.protocols & 1u << MG_KIND_tcp)) ||
		bpf_probe_read_kernel(&t, sizeof(t), th))
		return false;
	e->netns = BPF_CORE_READ(skb, dev, nd_net.net, ns.inum);
	e->lport = bpf_ntohs(t.dport);
	e->rport = bpf_ntohs(t.sport);
	return (!(by & MG_FILTERS_NETNS) || netns_passes(e->netns)) &&
	       (!(by & MG_FILTERS_PORT) || port_passes(e->lport, e->rport));
}

/*
 * `sk` and `skb` may each be NULL. They are read as numbers: kernels that assume they are never
 * NULL would remove the checks.
 */
static __always_inline void send_reset(void *ctx, __u8 reason)
{
	struct mg_tcp_reset r = {.sent = 1, .reason = reason};
	__u64 arg[2] = {};

	bpf_probe_read_kernel(arg, sizeof(arg), ctx);
	if (arg[0]) {
		const struct sock *sk = (void *)arg[0];

		r.sock = resetting(sk, arg[0]);
		if (!r.sock)
			return;
		r.netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
		/* skc_num is 0 once the port is given back */
		r.lport = bpf_ntohs(BPF_CORE_READ((struct inet_sock *)sk, inet_sport));
		r.rport = bpf_ntohs(BPF_CORE_READ(sk, __sk_common.skc_dport));
		r.state = BPF_CORE_READ(sk, __sk_common.skc_state);
	} else if (!arg[1] || !answers(&r, (void *)arg[1])) {
		return;
	}
	if (cfg.anonymize)
		r.lport = r.rport = 0;
	EMIT(tcp_reset, mg_tcp_reset, e, *e = r);
}

SEC("tp_btf/tcp_send_reset")
int on_send_reset(__u64 *ctx)
{
	send_reset(ctx, reset_reason(ctx[2]));
	return 0;
}

SEC("tp_btf/tcp_send_reset")
int on_send_reset_old(__u64 *ctx)
{
	send_reset(ctx, MG_RESET_unknown);
	return 0;
}

SEC("tp_btf/tcp_receive_reset")
int BPF_PROG(on_receive_reset, struct sock *sk)
{
	struct sock_entry *known = sock_at(sk);

	if (!known)
		return 0;
	EMIT(tcp_reset, mg_tcp_reset, e, {
		e->sock = known->cookie;
		e->netns = POINTER(sock, sk, __sk_common.skc_net.net)->ns.inum;
		e->lport = cfg.anonymize ? 0 : sk->__sk_common.skc_num;
		e->rport = cfg.anonymize ? 0 : bpf_ntohs(sk->__sk_common.skc_dport);
		e->sent = 0;
		e->reason = MG_RESET_unknown;
		e->state = sk->__sk_common.skc_state;
	});
	return 0;
}

#endif
