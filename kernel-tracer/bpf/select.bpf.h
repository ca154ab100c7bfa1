/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Selection of TCP sockets: those that traced threads open, accept or use (task.bpf.h). A traced
 * socket is in `socks` by its address and, once connected, in `tuples` by its addresses and ports
 * (tuple.bpf.h), for packets that have no socket yet.
 */
#ifndef MAGNET_BPF_SELECT_H
#define MAGNET_BPF_SELECT_H

struct sock_entry {
	__u64 cookie;
	__u64 tuple;      /* key in `tuples`, 0 = not connected yet */
	__u64 translated; /* another key, if this host translates its addresses */
	struct tcp_memory tcp;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64); /* address of the struct sock */
	__type(value, struct sock_entry);
} socks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);   /* hash of addresses, ports and namespace */
	__type(value, __u64); /* cookie */
} tuples SEC(".maps");

/* Translated ends, by the tuple that a socket will have: the one that its segments arrive with. */
struct translation {
	__u64 tuple;
	__be16 lport, rport;
	__u32 unused;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct translation);
} translations SEC(".maps");
volatile __u8 any_translated SEC(".data.translated") = 0;

/*
 * Segments between namespaces: by their ends alone, as their receiver has them. Bit 63 is set where
 * the cookie is the sender's.
 */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64);
	__type(value, __u64);
} paths SEC(".maps");

#define PATH_FROM (1ull << 63)
#define NO_NETNS  0xffffffffu /* replaces the namespace in keys of `paths` */

/* Connections being opened about which the filters cannot decide yet. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64); /* address of the struct sock */
	__type(value, __u64);
} undecided SEC(".maps");

/* local ports on which traced processes listen: their connections are followed */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64); /* network namespace << 16 | port */
	__type(value, __u64);
} listeners SEC(".maps");

static __always_inline __u64 listener_key(const struct sock *sk)
{
	return (__u64)POINTER(sock, sk, __sk_common.skc_net.net)->ns.inum << 16 |
	       sk->__sk_common.skc_num;
}

/*
 * Answered requests to connect, by the tuple that segments for them arrive with: the port they are
 * for, or NO_REQUEST where the answer is a SYN cookie, and there is no request.
 */
#define NO_REQUEST (1u << 16)
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64);
	__type(value, __u64);
} requests SEC(".maps");

/* network namespaces whose IP hooks are attached, set by the loader */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u32);
} hooked_netns SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} new_netns SEC(".maps");

static __always_inline void check_netns_number(__u32 inum, __u32 pid)
{
	struct mg_new_netns n = {.inum = inum, .pid = pid};

	if (!bpf_map_lookup_elem(&hooked_netns, &n.inum))
		bpf_ringbuf_output(&new_netns, &n, sizeof(n), BPF_RB_FORCE_WAKEUP);
}

static __always_inline void check_netns(const struct net *net, __u32 pid)
{
	check_netns_number(net->ns.inum, pid);
}

static __always_inline struct sock_entry *sock_at(const struct sock *sk)
{
	__u64 key = (__u64)sk;

	return bpf_map_lookup_elem(&socks, &key);
}

/*
 * Port pairs of connections that are or were followed, one bit each: most packets at the hooks
 * belong to others, and this test costs two loads. Bits are never cleared.
 */
#define PORT_PAIRS 65536
volatile __u64 port_pairs[PORT_PAIRS / 64] SEC(".data.ports") = {};

static __always_inline __u32 port_pair(__be16 a, __be16 b)
{
	return ((__u32)a * 40503 ^ b) & (PORT_PAIRS - 1);
}

static __always_inline bool ports_followed(__be16 local, __be16 remote)
{
	__u32 n = port_pair(local, remote);

	return port_pairs[n / 64] >> (n & 63) & 1;
}

/* Sets the bits of both directions. */
static __always_inline void follow_ports(__be16 local, __be16 remote)
{
	__u32 n = port_pair(local, remote), m = port_pair(remote, local);

	port_pairs[n / 64] |= 1ull << (n & 63);
	port_pairs[m / 64] |= 1ull << (m & 63);
}

/* A socket being opened, or closed, may have no ports. */
static __always_inline bool may_be_followed(const struct sock *sk)
{
	__u8 state = sk->__sk_common.skc_state;

	return state == TCP_SYN_SENT || state == TCP_CLOSE ||
	       ports_followed(bpf_htons(sk->__sk_common.skc_num), sk->__sk_common.skc_dport);
}

/* Returns the entry of a packet's socket. */
static __always_inline struct sock_entry *sock_of(const struct sock *sk)
{
	return may_be_followed(sk) ? sock_at(sk) : NULL;
}

static __always_inline void emit_addr(const struct sock *sk, __u64 cookie, __u32 *l, __u32 *r)
{
	if (cfg.anonymize)
		return;
	EMIT_RARE(sock_addr, mg_sock_addr, e, {
		e->sock = cookie;
		__builtin_memcpy(e->laddr, l, 16);
		__builtin_memcpy(e->raddr, r, 16);
	});
}

/*
 * Returns the protocol between the connection and the program, if TCP's bytes are not the
 * program's.
 */
static __noinline int ulp_of(const struct tcp_sock *tp)
{
	const struct tcp_ulp_ops *ops = BPF_CORE_READ(icsk_of(tp), icsk_ulp_ops);
	char name[16] = {};

	if (!ops)
		return 0;
	BPF_CORE_READ_INTO(&name, ops, name);
	if (name[0] == 't' && name[1] == 'l' && name[2] == 's')
		return MG_ULP_TLS;
	return name[0] == 'm' && name[1] == 'p' && name[2] == 't' ? MG_ULP_MPTCP : MG_ULP_OTHER;
}

static __always_inline void emit_state(const struct sock *sk, const struct tcp_sock *tp,
	__u64 cookie, int old, int now, int opener)
{
	EMIT_RARE(sock_state, mg_sock_state, e, {
		e->sock = cookie;
		e->write_seq = tp->write_seq;
		e->snd_una = tp->snd_una;
		e->rcv_nxt = tp->rcv_nxt;
		e->copied_seq = tp->copied_seq;
		e->netns = POINTER(sock, sk, __sk_common.skc_net.net)->ns.inum;
		e->lport = cfg.anonymize ? 0 : sk->__sk_common.skc_num;
		e->rport = cfg.anonymize ? 0 : bpf_ntohs(sk->__sk_common.skc_dport);
		e->old = old;
		e->now = now;
		e->family = sk->__sk_common.skc_family;
		e->opener = opener;
		e->ulp = ulp_of(tp);
	});
	state_of_rare(sk, tp, cookie);
}

/*
 * Returns the key by which a socket's segments are found before they are translated, 0 if they are
 * not. `number` is the one to count the socket by if there is no room.
 */
static __noinline __u64 as_translated(__u64 tuple, __u64 cookie, __u64 number)
{
	const struct translation *known = bpf_map_lookup_elem(&translations, &tuple);
	__u64 other;

	if (!known)
		return 0;
	other = known->tuple;
	follow_ports(known->lport, known->rport);
	bpf_map_delete_elem(&translations, &tuple);
	if (bpf_map_update_elem(&tuples, &other, &cookie, BPF_ANY))
		count_not_followed(number);
	tables_changed();
	return other;
}

/* Follows a connected socket from here on. */
static __always_inline void select_connected(const struct sock *sk, __u64 cookie)
{
	struct sock_entry entry = {.cookie = cookie}, *before = sock_at(sk);
	__u64 key = (__u64)sk, path, from = cookie | PATH_FROM, arrives;
	__u16 lport = bpf_htons(sk->__sk_common.skc_num), rport = sk->__sk_common.skc_dport;
	__u32 l[4], r[4];

	follow_ports(lport, rport);
	sock_addresses(sk, l, r);
	entry.tuple =
		tuple_of(POINTER(sock, sk, __sk_common.skc_net.net)->ns.inum, l, r, lport, rport);
	if (before && before->tuple == entry.tuple) /* known since its SYN */
		return;
	if (any_translated)
		entry.translated = as_translated(entry.tuple, cookie, number_counted(sk, cookie));
	if (bpf_map_update_elem(&socks, &key, &entry, BPF_ANY) ||
		bpf_map_update_elem(&tuples, &entry.tuple, &cookie, BPF_ANY))
		count_not_followed(number_counted(sk, cookie));
	else
		number_followed(cookie);
	tables_changed(); /* before the request is forgotten */
	arrives = entry.translated ? entry.translated : entry.tuple;
	bpf_map_delete_elem(&requests, &arrives);
	drop_key(arrives);
	/* between namespaces what a socket sends looks like what its peer receives */
	path = tuple_of(NO_NETNS, l, r, lport, rport);
	bpf_map_update_elem(&paths, &path, &cookie, BPF_NOEXIST);
	remember_key(path);
	path = tuple_of(NO_NETNS, r, l, rport, lport);
	bpf_map_update_elem(&paths, &path, &from, BPF_ANY);
	tables_changed();
	remember_key(path);
	emit_addr(sk, cookie, l, r);
}

/* The same at a hook whose own frame leaves little room. The result has no meaning. */
static __noinline int select_with_port(const struct sock *sk, __u64 cookie)
{
	if (sk)
		select_connected(sk, cookie);
	return 0;
}

static __always_inline void emit_open(const struct tcp_sock *tp, __u64 cookie)
{
	EMIT_RARE(sock_open, mg_sock_open, e, {
		e->sock = cookie;
		e->bytes_acked = tp->bytes_acked;
		e->bytes_received = tp->bytes_received;
		e->snd_una = tp->snd_una;
		e->snd_nxt = tp->snd_nxt;
		e->rcv_nxt = tp->rcv_nxt;
		e->sent_once = tp->bytes_sent - tp->bytes_retrans;
	});
}

/* Returns whether there was no room for a socket before and still is none. */
static __noinline int has_no_place(__u64 key, __u64 cookie, __u64 number)
{
	struct sock_entry entry = {.cookie = cookie};

	if (!is_counted(number) || !bpf_map_update_elem(&socks, &key, &entry, BPF_ANY))
		return 0;
	count_not_followed(number);
	return 1;
}

/*
 * Returns whether a connection that the current thread uses is to be followed. The filters come
 * first: with them most connections are refused again and again.
 */
static __always_inline bool is_wanted_late(struct sock *sk)
{
	return judge_connected(sk) == WANTED && current_selects();
}

/*
 * Announces a connection opened before, or that there was no room for, with its counters, when a
 * traced thread uses it and the filters pass it.
 */
static __always_inline void select_late_as(
	const struct sock *sk, const struct tcp_sock *tp, __u64 cookie)
{
	if (has_no_place((__u64)sk, cookie, number_counted(sk, cookie)))
		return;
	emit_open(tp, cookie);
	emit_state(sk, tp, cookie, 0, sk->__sk_common.skc_state, 0);
	select_connected(sk, cookie);
}

static __always_inline void select_late(struct sock *sk, struct tcp_sock *tp)
{
	select_late_as(sk, tp, socket_cookie(sk));
}

/* Stops assigning packets to the socket by its ends. */
static __always_inline void unbind(struct sock_entry *e)
{
	__u64 tuple = e->tuple, translated = e->translated;

	if (tuple)
		bpf_map_delete_elem(&tuples, &tuple);
	if (translated)
		bpf_map_delete_elem(&tuples, &translated);
	e->tuple = e->translated = 0;
	tables_changed();
}

static __always_inline void forget(const struct sock *sk)
{
	struct sock_entry *e = sock_at(sk);
	__u64 key = (__u64)sk;

	if (!e)
		return;
	unbind(e);
	number_forgotten(e->cookie);
	bpf_map_delete_elem(&socks, &key);
	tables_changed();
}

#endif
