/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Selection: the threads of the traced process tree, and the TCP sockets they open, accept or use.
 * A traced thread has task storage; a traced socket is in `socks` by its address and, once
 * connected, in `tuples` by its addresses and ports, for packets that have no socket yet.
 */
#ifndef MAGNET_BPF_SELECT_H
#define MAGNET_BPF_SELECT_H

struct task_state {
	__u64 sk;   /* address of the socket of the system call it is in, 0 = not TCP */
	__u64 sock; /* its cookie */
	__u16 call; /* MG_SYS_* of that call, 0 = none that is recorded */
	__u8 dir;   /* MG_DIR_* */
	__u8 again; /* value of `call` after the call: 0, except for calibration (MG_TASK_AGAIN) */
	__s32 fd;
	__u64 messages; /* the vector of sendmmsg and recvmmsg */
	/* the call that a signal handler interrupted */
	__u64 interrupted_sock;
	__s32 interrupted_fd;
	__u16 interrupted; /* MG_SYS_*, 0 = none */
	__u16 quiet;       /* the call is not recorded, but may change the selection */
	__u64 other;       /* address of a socket that is not TCP's, 0 = none */
	__u64 pair;        /* address to which socketpair() writes its two descriptors */
	__u64 zerocopy; /* address of the socket it sends on with MSG_ZEROCOPY, 0 = it does not */
	__u32 zerocopy_first;
	__u32 errors; /* it reads the socket's error queue */
};
_Static_assert(__builtin_offsetof(struct task_state, again) == MG_TASK_AGAIN, "MG_TASK_AGAIN");
_Static_assert(sizeof(struct task_state) <= MG_TASK_MARK, "MG_TASK_MARK");

struct {
#ifdef MG_OLD
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
#else
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
#endif
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

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
	return (__u64)sk->__sk_common.skc_net.net->ns.inum << 16 | sk->__sk_common.skc_num;
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
	__type(value, __u32);
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

/* The cgroup whose tasks are traced, set by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cgroups SEC(".maps");

/* The tracer's own process, never traced by `all` or with its cgroup; set after calibration. */
__u32 not_traced;

/*
 * Returns whether the task is traced because everything is, except the tracer. With a filter only
 * tasks that have used a passing socket are traced: they have storage.
 */
static __always_inline bool everything(const struct task_struct *t)
{
	return cfg.all && !settings.active && TASK_READ(t, tgid) != not_traced;
}

static __always_inline struct task_state *task_of(struct task_struct *t)
{
	return task_storage(&tasks, t, everything(t) ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
}

/* Starts tracing the current task, which has used a socket that a filter passes. */
static __always_inline struct task_state *begin_tracing(struct task_struct *t)
{
	return task_storage(&tasks, t, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

static __always_inline struct task_state *current_task(void)
{
	return task_of(bpf_get_current_task_btf());
}

/*
 * Reports the thread, and its process's name: by its first thread, since a thread may have another
 * name.
 */
static __noinline void tell_process(const struct task_struct *t)
{
	const struct task_struct *leader = BPF_CORE_READ(t, group_leader);

	EMIT_RARE(task_fork, mg_task_fork, e, {
		e->child_tid = BPF_CORE_READ(leader, pid);
		e->child_pid = BPF_CORE_READ(leader, tgid);
		copy_name(e->comm, leader->comm);
	});
}

static __always_inline struct task_state *meet_task(struct task_struct *t)
{
	struct task_state *state = begin_tracing(t);

	if (state)
		tell_process(t);
	else
		count_not_traced(t);
	return state;
}

/* Like task_of() != NULL, without making storage. */
static __always_inline bool task_traced(struct task_struct *t)
{
	return everything(t) || task_storage(&tasks, t, 0) != NULL;
}

/* Returns whether the current task's sockets may be followed, if the filters pass them. */
static __always_inline bool current_selects(void)
{
	struct task_struct *t = bpf_get_current_task_btf();

	if (cfg.all)
		return TASK_READ(t, tgid) != not_traced;
	if (task_storage(&tasks, t, 0))
		return true;
	/* from the helper: on old kernels a task is only a number */
	return settings.cgroup && bpf_get_current_pid_tgid() >> 32 != not_traced &&
	       bpf_current_task_under_cgroup(&cgroups, 0) == 1 && meet_task(t);
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

/* Returns the entry of a packet's socket. A socket being opened, or closed, may have no ports. */
static __always_inline struct sock_entry *sock_of(const struct sock *sk)
{
	__u8 state = sk->__sk_common.skc_state;

	if (state != TCP_SYN_SENT && state != TCP_CLOSE &&
		!ports_followed(bpf_htons(sk->__sk_common.skc_num), sk->__sk_common.skc_dport))
		return NULL;
	return sock_at(sk);
}

static __always_inline __u64 mix(__u64 h, __u64 x)
{
	h = (h ^ x) * 0x9e3779b97f4a7c15ULL;
	return h ^ h >> 32;
}

/*
 * Hashes a number in memory; a function of its own, where the verifier takes a pointer in memory
 * for a number.
 */
__global __u32 hash_at(const __u64 *value)
{
	return value ? mix(cfg.seed, number_at(value)) : 0;
}

/* Returns a name for a packet's memory that reveals no kernel address. */
static __always_inline __u32 buffer_of(const struct sk_buff *skb)
{
	__u64 head = (__u64)skb->head;

	return hash_at(&head);
}

static __always_inline __u64 tuple_ports(__u64 h, __be16 lport, __be16 rport)
{
	h = mix(h, (__u64)lport << 16 | rport);
	return h ? h : 1;
}

static __always_inline __u64 tuple4(
	__u32 netns, __be32 laddr, __be32 raddr, __be16 lport, __be16 rport)
{
	return tuple_ports(mix(cfg.seed ^ netns, (__u64)laddr << 32 | raddr), lport, rport);
}

static __always_inline __u64 tuple6(
	__u32 netns, const __u32 *laddr, const __u32 *raddr, __be16 lport, __be16 rport)
{
	__u64 h = cfg.seed ^ netns;

	h = mix(h, (__u64)laddr[0] << 32 | laddr[1]);
	h = mix(h, (__u64)laddr[2] << 32 | laddr[3]);
	h = mix(h, (__u64)raddr[0] << 32 | raddr[1]);
	h = mix(h, (__u64)raddr[2] << 32 | raddr[3]);
	return tuple_ports(h, lport, rport);
}

/* Returns the four words of an address as IPv6; an IPv4 address is mapped. */
static __always_inline void sock_addresses(const struct sock *sk, __u32 *laddr, __u32 *raddr)
{
	if (sk->__sk_common.skc_family == AF_INET) {
		laddr[0] = raddr[0] = 0;
		laddr[1] = raddr[1] = 0;
		laddr[2] = raddr[2] = bpf_htonl(0xffff);
		laddr[3] = sk->__sk_common.skc_rcv_saddr;
		raddr[3] = sk->__sk_common.skc_daddr;
		return;
	}
	for (int i = 0; i < 4; i++) {
		laddr[i] = sk->__sk_common.skc_v6_rcv_saddr.in6_u.u6_addr32[i];
		raddr[i] = sk->__sk_common.skc_v6_daddr.in6_u.u6_addr32[i];
	}
}

/*
 * Returns a socket's key. An IPv6 socket may carry IPv4: its packets hash as IPv4, so it must too.
 */
static __always_inline __u64 tuple_of(
	__u32 net, const __u32 *laddr, const __u32 *raddr, __be16 lport, __be16 rport)
{
	if (raddr[0] == 0 && raddr[1] == 0 && raddr[2] == bpf_htonl(0xffff))
		return tuple4(net, laddr[3], raddr[3], lport, rport);
	return tuple6(net, laddr, raddr, lport, rport);
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
		e->netns = sk->__sk_common.skc_net.net->ns.inum;
		e->lport = cfg.anonymize ? 0 : sk->__sk_common.skc_num;
		e->rport = cfg.anonymize ? 0 : bpf_ntohs(sk->__sk_common.skc_dport);
		e->old = old;
		e->now = now;
		e->family = sk->__sk_common.skc_family;
		e->opener = opener;
		e->ulp = ulp_of(tp);
	});
	state_of(sk, tp, cookie, NULL);
}

/* Applies the filters to a TCP socket. */
static __always_inline int judge_tcp(const struct sock *sk)
{
	struct endpoints e;

	if (!settings.active)
		return WANTED;
	sock_addresses(sk, e.laddr, e.raddr);
	e.netns = sk->__sk_common.skc_net.net->ns.inum;
	e.lport = sk->__sk_common.skc_num;
	e.rport = bpf_ntohs(sk->__sk_common.skc_dport);
	return judge(&e, MG_KIND_tcp);
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
	entry.tuple = tuple_of(sk->__sk_common.skc_net.net->ns.inum, l, r, lport, rport);
	if (before && before->tuple == entry.tuple) /* known since its SYN */
		return;
	if (any_translated)
		entry.translated = as_translated(entry.tuple, cookie, number_counted(sk, cookie));
	if (bpf_map_update_elem(&socks, &key, &entry, BPF_ANY) ||
		bpf_map_update_elem(&tuples, &entry.tuple, &cookie, BPF_ANY))
		count_not_followed(number_counted(sk, cookie));
	arrives = entry.translated ? entry.translated : entry.tuple;
	bpf_map_delete_elem(&requests, &arrives);
	drop_key(arrives);
	/* between namespaces what a socket sends looks like what its peer receives */
	path = tuple_of(NO_NETNS, l, r, lport, rport);
	bpf_map_update_elem(&paths, &path, &cookie, BPF_NOEXIST);
	remember_key(path);
	path = tuple_of(NO_NETNS, r, l, rport, lport);
	bpf_map_update_elem(&paths, &path, &from, BPF_ANY);
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
 * Announces a connection opened before, or that there was no room for, with its counters, when a
 * traced thread uses it.
 */
static __always_inline void select_late(struct sock *sk, struct tcp_sock *tp)
{
	__u64 cookie;

	if (judge_tcp(sk) != WANTED)
		return;
	cookie = socket_cookie(sk);
	if (has_no_place((__u64)sk, cookie, number_counted(sk, cookie)))
		return;
	emit_open(tp, cookie);
	emit_state(sk, tp, cookie, 0, sk->__sk_common.skc_state, 0);
	select_connected(sk, cookie);
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
}

static __always_inline void forget(const struct sock *sk)
{
	struct sock_entry *e = sock_at(sk);
	__u64 key = (__u64)sk;

	if (!e)
		return;
	unbind(e);
	bpf_map_delete_elem(&socks, &key);
}

#endif
