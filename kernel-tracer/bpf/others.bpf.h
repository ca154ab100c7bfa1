/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Sockets other than TCP's: UDP, raw, ICMP and UNIX. The kernel has no hooks for their begin and
 * end, so they are known by their inode's number, which is compared at each access, and are evicted
 * when others need the room.
 */
#ifndef MAGNET_BPF_OTHERS_H
#define MAGNET_BPF_OTHERS_H

struct other {
	__u64 id;
	__u64 ends; /* hash of its ends when it was announced */
	__u16 lport;
	__u8 kind, verdict;
	__u8 settled; /* only bind() and connect() change its ends: it has a port, or needs none */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MG_OTHERS);
	__type(key, __u64); /* address of the struct sock */
	__type(value, struct other);
} others SEC(".maps");

/* Entries stored so far in each of the two, until one may have been evicted. */
volatile __u32 others_stored SEC(".data.others") = 0;
volatile __u32 places_stored SEC(".data.others") = 0;

/* Stores an entry. Returns 0 if there is room. */
static __always_inline long store_other(__u64 key, const struct other *o)
{
	if (others_stored < cfg.others_first)
		__sync_fetch_and_add(&others_stored, 1);
	return bpf_map_update_elem(&others, &key, o, BPF_ANY);
}

/* Where datagrams go: by both ends, by the local one, or by the local port alone. */
struct place {
	__u64 id; /* 0 = several sockets */
	__u64 sk;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, MG_OTHERS);
	__type(key, __u64);
	__type(value, struct place);
} places SEC(".maps");

static __always_inline bool internet(int family)
{
	return family == AF_INET || family == AF_INET6;
}

/*
 * Returns the kind of a socket. Global, so that the verifier takes the result for any number
 * instead of following each kind separately.
 */
__noinline int kind_of(int family, int type, int protocol)
{
	switch (family) {
	case AF_INET:
	case AF_INET6:
		if (type == SOCK_STREAM && (!protocol || protocol == IPPROTO_TCP))
			return MG_KIND_tcp;
		if (type == SOCK_DGRAM && (!protocol || protocol == IPPROTO_UDP))
			return MG_KIND_udp;
		return type == SOCK_RAW || protocol == IPPROTO_ICMP || protocol == IPPROTO_ICMPV6
			       ? MG_KIND_raw
			       : MG_KIND_socket;
	case AF_UNIX:
		return type == SOCK_STREAM      ? MG_KIND_unix_stream
		       : type == SOCK_SEQPACKET ? MG_KIND_unix_seqpacket
						: MG_KIND_unix_dgram;
	case AF_NETLINK:
		return MG_KIND_netlink;
	case AF_VSOCK:
		return MG_KIND_vsock;
	}
	return MG_KIND_socket;
}

static __always_inline __u64 place_by_port(__u32 netns, __u8 proto, __u16 port)
{
	return mix(mix(cfg.seed, (__u64)proto << 32 | netns), 1ull << 63 | port);
}

static __always_inline __u64 place_by_local(
	__u32 netns, __u8 proto, const __u32 *laddr, __u16 lport)
{
	__u64 h = mix(cfg.seed, (__u64)proto << 32 | netns);

	h = mix(h, (__u64)laddr[0] << 32 | laddr[1]);
	h = mix(h, (__u64)laddr[2] << 32 | laddr[3]);
	return mix(h, lport);
}

static __always_inline __u64 place_by_both(__u64 local, const __u32 *raddr, __u16 rport)
{
	local = mix(local, (__u64)raddr[0] << 32 | raddr[1]);
	local = mix(local, (__u64)raddr[2] << 32 | raddr[3]);
	return mix(local, 1ull << 32 | rport);
}

static __always_inline bool is_any(const __u32 *addr)
{
	return !addr[0] && !addr[1] && !addr[3] && (!addr[2] || addr[2] == bpf_htonl(0xffff));
}

/* Returns a place, unless its socket is closed, for which there is no event. */
static __always_inline struct place *place_at(__u64 key)
{
	struct place *p = bpf_map_lookup_elem(&places, &key);

	if (!p || !p->id)
		return p;
	return (OTHER_ID | inode_of((void *)p->sk)) == p->id ? p : NULL;
}

/* Kinds of places that exist or did: no other kind need be looked for. */
enum { PLACES_BOTH, PLACES_LOCAL, PLACES_PORT, PLACES_RAW, PLACE_KINDS };
/* one byte each: two CPUs may set theirs at once */
volatile __u8 place_kinds[PLACE_KINDS] SEC(".data.places") = {};

static __always_inline bool may_share(const struct sock *sk)
{
	const struct sock_common *c = &sk->__sk_common;

	return BPF_CORE_READ_BITFIELD_PROBED(c, skc_reuse) ||
	       BPF_CORE_READ_BITFIELD_PROBED(c, skc_reuseport);
}

/*
 * Stores a place. A place that two live sockets share belongs to neither: which one gets a datagram
 * is not known. Only the last of them is remembered: after its end others may still exist.
 */
static __always_inline void put_place(__u32 kind, __u64 key, __u64 id, const struct sock *sk)
{
	struct place p = {.id = id, .sk = (__u64)sk}, *old = bpf_map_lookup_elem(&places, &key);

	if (old && old->sk != p.sk && old->sk) {
		struct sock *other = (void *)old->sk;
		__u64 ino = inode_of(other);

		if (old->id == 0 ? ino || may_share(sk) : old->id == (OTHER_ID | ino))
			p.id = 0;
	}
	if (places_stored < cfg.others_first)
		__sync_fetch_and_add(&places_stored, 1);
	bpf_map_update_elem(&places, &key, &p, BPF_ANY);
	remember_key(key);
	place_kinds[kind & 3] = 1;
}

static __always_inline void read_ends(const struct sock *sk, struct endpoints *e)
{
	e->netns = MEMBER_OF(sock, sk, __sk_common.skc_net.net, ns.inum);
	e->lport = MEMBER(sock, sk, __sk_common.skc_num);
	e->rport = bpf_ntohs(MEMBER(sock, sk, __sk_common.skc_dport));
	if (CAN_CAST) {
		sock_addresses(CAST(sock, sk), e->laddr, e->raddr);
		return;
	}
	if (BPF_CORE_READ(sk, __sk_common.skc_family) == AF_INET) {
		e->laddr[0] = e->raddr[0] = 0;
		e->laddr[1] = e->raddr[1] = 0;
		e->laddr[2] = e->raddr[2] = bpf_htonl(0xffff);
		e->laddr[3] = BPF_CORE_READ(sk, __sk_common.skc_rcv_saddr);
		e->raddr[3] = BPF_CORE_READ(sk, __sk_common.skc_daddr);
	} else {
		BPF_CORE_READ_INTO(&e->laddr, sk, __sk_common.skc_v6_rcv_saddr);
		BPF_CORE_READ_INTO(&e->raddr, sk, __sk_common.skc_v6_daddr);
	}
}

static __always_inline __u64 sign(const struct endpoints *e)
{
	__u64 local = place_by_local(e->netns, 0, e->laddr, e->lport);

	return place_by_both(local, e->raddr, e->rport);
}

/* Stores the places by which datagrams find their socket. */
__global int register_places(const struct endpoints *e, __u64 id, __u64 address)
{
	const struct sock *sk = (void *)address;
	int kind, proto;
	__u64 local;

	if (!e)
		return 0;
	proto = BPF_CORE_READ(sk, sk_protocol);
	kind = BPF_CORE_READ(sk, sk_type) == SOCK_RAW;
	if (kind) /* it gets every packet of its protocol */
		put_place(PLACES_RAW, place_by_port(e->netns, proto, 0), id, sk);
	if (kind || !e->lport)
		return 0;
	if (is_any(e->laddr)) {
		put_place(PLACES_PORT, place_by_port(e->netns, proto, e->lport), id, sk);
		return 0;
	}
	local = place_by_local(e->netns, proto, e->laddr, e->lport);
	if (e->rport)
		put_place(PLACES_BOTH, place_by_both(local, e->raddr, e->rport), id, sk);
	else
		put_place(PLACES_LOCAL, local, id, sk);
	return 0;
}

/* Returns the bytes in the receive queue, which for a UNIX socket are memory of its sender. */
static __always_inline __u32 receive_queue(const struct sock *sk)
{
	if (BPF_CORE_READ(sk, __sk_common.skc_family) == AF_UNIX)
		return ~0u;
	return BPF_CORE_READ(sk, sk_backlog.rmem_alloc.counter);
}

/*
 * Returns the next buffer to read: UDP's reader moves buffers to a queue of its own, read before
 * what came since.
 */
static __always_inline __u32 next_to_read(const struct sock *sk)
{
	__u64 head;

	if (sk->sk_protocol == IPPROTO_UDP && MEMBER(udp_sock, sk, reader_queue.qlen))
		head = (__u64)MEMBER_OF(udp_sock, sk, reader_queue.next, head);
	else if (sk->sk_receive_queue.qlen)
		head = (__u64)MEMBER_OF(sock, sk, sk_receive_queue.next, head);
	else
		return MG_NOT_KNOWN;
	return hash_at(&head);
}

/* Returns the last of these buffers that the sender owns, NULL if none of the last four is its. */
static __always_inline const struct sk_buff *last_of(const struct sk_buff *at, __u64 sender)
{
#pragma unroll
	for (int i = 0; i < 4; i++) {
		if ((__u64)MEMBER(sk_buff, at, sk) == sender)
			return at;
		at = MEMBER(sk_buff, at, prev);
	}
	return NULL;
}

/*
 * Describes the last buffer in the receive queue, which has just come. The sender to a UNIX socket
 * is the current thread, and other threads may send at any moment: theirs are passed over.
 */
static __always_inline void last_in_queue(struct mg_sock_ready *e, const struct sock *sk)
{
	const struct sk_buff *last;
	struct task_state *state;
	__u64 head;

	e->buffer = e->len = 0;
	if (!sk->sk_receive_queue.qlen)
		return;
	last = MEMBER(sock, sk, sk_receive_queue.prev);
	if (sk->__sk_common.skc_family == AF_UNIX) {
		state = current_task();
		if (state && state->call && state->other)
			last = last_of(last, state->other);
		if (!last)
			return;
	}
	head = (__u64)MEMBER(sk_buff, last, head);
	e->buffer = hash_at(&head);
	e->len = MEMBER(sk_buff, last, len);
}

/* `peer` is a UNIX socket's, in case it has been closed meanwhile, or 0. */
__global int announce(__u64 address, const struct endpoints *e, __u64 id, int kind, __u64 peer)
{
	const struct sock *sk = (void *)address;
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);

	if (!e)
		return 0;
	if (family == AF_UNIX) {
		struct sock *other = BPF_CORE_READ((struct unix_sock *)sk, peer);
		__u64 ino = other ? inode_of(other) : 0;

		peer = ino ? OTHER_ID | ino : peer;
	}
	EMIT(sock_new, mg_sock_new, n, {
		n->sock = id;
		n->peer = peer;
		n->netns = e->netns;
		n->lport = cfg.anonymize || family == AF_UNIX ? 0 : e->lport;
		n->rport = cfg.anonymize || family == AF_UNIX ? 0 : e->rport;
		n->family = family;
		n->kind = kind;
		n->proto = internet(family) ? BPF_CORE_READ(sk, sk_protocol) : 0;
	});
	if (internet(family) && !cfg.anonymize)
		EMIT(sock_addr, mg_sock_addr, a, {
			a->sock = id;
			__builtin_memcpy(a->laddr, e->laddr, 16);
			__builtin_memcpy(a->raddr, e->raddr, 16);
		});
	return 0;
}

/* A socket as it is now. In memory, as the verifier then follows no kind of it separately. */
struct meeting {
	struct other now;
	struct endpoints e;
	__u16 family;
	__u8 is_internet, is_unix;
};

/* Reads a socket's ends. Returns 0 if it is closed. */
__followed_once int look_at_ends(const __u64 *address, struct meeting *m)
{
	const struct sock *sk = (void *)(address ? number_at(address) : 0);
	__u64 ino = inode_of(sk);
	__u16 family;

	if (!m || !ino)
		return 0;
	family = BPF_CORE_READ(sk, __sk_common.skc_family);
	m->now.id = OTHER_ID | ino;
	m->family = family;
	m->is_internet = internet(family);
	m->is_unix = family == AF_UNIX;
	if (internet(family)) {
		read_ends(sk, &m->e);
		m->now.ends = sign(&m->e);
		m->now.lport = m->e.lport;
	} else {
		m->e.netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
		if (family == AF_UNIX)
			m->now.ends = (__u64)BPF_CORE_READ((struct unix_sock *)sk, peer);
	}
	return 1;
}

/* Meets a socket that is new, or has other ends than before. Returns what meet_at() does. */
__followed_once __u64 meet_anew(const __u64 *address, struct meeting *m)
{
	__u64 key = address ? number_at(address) : 0, id, peer = 0;
	const struct sock *sk = (void *)key;
	struct other *known = bpf_map_lookup_elem(&others, &key);
	bool is_followed, was_followed, is_known, is_connected;

	if (!m)
		return 0;
	id = m->now.id;
	is_connected = BPF_CORE_READ(sk, __sk_common.skc_state) == TCP_ESTABLISHED;
	is_known = known && known->id == id;
	/* not the one that was at this address before, nor one that was refused until now */
	is_followed = is_known && known->verdict == WANTED;
	if (known && known->verdict == UNACCEPTED && is_connected)
		peer = known->id;
	m->now.kind =
		kind_of(m->family, BPF_CORE_READ(sk, sk_type), BPF_CORE_READ(sk, sk_protocol));
	m->now.verdict = settings.active ? judge(&m->e, m->now.kind) : WANTED;
	m->now.settled = m->now.kind != MG_KIND_udp || m->e.lport;
	if (m->now.verdict != WANTED) {
		store_other(key, &m->now);
		return 0;
	}
	was_followed = is_followed || is_met(&key, (__u32)id);
	/* it was evicted: another CPU that has just met it stored it before it noted it */
	if (was_followed && !bpf_map_lookup_elem(&others, &key))
		count_not_followed(id);
	if (store_other(key, &m->now))
		count_not_followed(id);
	if (!was_followed)
		note_met(key, (__u32)id);
	announce(key, &m->e, id, m->now.kind, peer);
	if (m->is_internet) {
		check_netns_number(m->e.netns, bpf_get_current_pid_tgid() >> 32);
		register_places(&m->e, id, key);
	}
	/* data from before its accept were recorded at their sender */
	if (m->is_unix && !is_known && is_connected && BPF_CORE_READ(sk, sk_receive_queue.qlen))
		EMIT(sock_ready, mg_sock_ready, r, {
			r->sock = id;
			r->queued = ~0u;
			r->buffer = r->len = 0;
			r->kind = m->now.kind;
		});
	return id;
}

/*
 * Meets a socket of a traced task. Returns its id, 0 if the filters refuse it. It is announced when
 * it is first met and whenever its ends have changed.
 */
__global __u64 meet_at(const __u64 *address)
{
	__u64 key = address ? number_at(address) : 0;
	struct meeting m = {};
	struct other *known;

	if (!look_at_ends(&key, &m))
		return 0;
	known = bpf_map_lookup_elem(&others, &key);
	if (known && known->id == m.now.id && known->ends == m.now.ends)
		return known->verdict == WANTED ? m.now.id : 0;
	return meet_anew(&key, &m);
}

#ifdef MG_OLD
__noinline __u64 meet_number(__u64 address)
{
	return meet_at(&address);
}
#endif

static __always_inline __u64 meet_other(const struct sock *sk)
{
	__u64 address = (__u64)sk; /* through memory: a pointer becomes a number */

#ifdef MG_OLD
	return meet_number(number_at(&address));
#else
	return meet_at(&address);
#endif
}

/* Returns the followed socket at this address, if it is still the same. */
static __always_inline struct other *other_of(const struct sock *sk)
{
	__u64 key = (__u64)sk, ino;
	struct other *o = bpf_map_lookup_elem(&others, &key);

	if (!o || o->verdict != WANTED)
		return NULL;
	ino = inode_of(sk); /* a closed socket may still have packets on their way */
	return !ino || o->id == (OTHER_ID | ino) ? o : NULL;
}

/*
 * Returns whether a socket that is not in `others` was there before, and was evicted. As long as
 * nothing can have been, that costs one comparison.
 */
static __noinline int met_before(const struct sock *sk)
{
	__u64 address = (__u64)sk, ino = sk ? inode_of(sk) : 0;

	return may_be_met(ino) ? is_met(&address, ino) : 0;
}

static __always_inline bool was_evicted(const struct sock *sk)
{
	return others_stored >= cfg.others_first && met_before(sk);
}

/* Counts such a socket where it is not met again. The result has no meaning. */
static __noinline int count_evicted(const struct sock *sk)
{
	return sk ? count_once(OTHER_ID | inode_of(sk), MG_NOT_SEEN_CONNECTIONS) : 0;
}

#endif
