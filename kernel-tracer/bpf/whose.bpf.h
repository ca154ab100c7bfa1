/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Finds a packet's owner: by the socket it came from, or by its destination. */
#ifndef MAGNET_BPF_WHOSE_H
#define MAGNET_BPF_WHOSE_H

/*
 * Inlined functions share one stack frame with their callers, and before Linux 6.12 the frames of a
 * call chain have 512 bytes in all: functions that are rarely called, or need much, are kept apart.
 */

/*
 * Identifies the SYN-ACK of a followed request to connect, which has no socket yet; false if the
 * request is not followed.
 */
static __noinline bool sent_by_request(
	struct packet *g, __u64 *sock, const struct sk_buff *skb, const struct sock *request)
{
	struct tcp_bytes t = {};
	__u64 tuple = 0;

	if (says_tcp(skb->head + skb->network_header))
		tuple = answers_tuple(
			skb, POINTER(sock, request, __sk_common.skc_net.net)->ns.inum, &t);
	if (!tuple || !request_at(tuple))
		return false;
	set_segment(g, &t);
	g->len = 0;
	*sock = MG_REQUEST_ID | tuple;
	return true;
}

/*
 * Returns true for nearly all TCP sockets that sent_by() knows nothing of. Asked first, it spares
 * the packets of most connections the rest of a program.
 */
static __always_inline bool is_unfollowed(const struct sock *sk)
{
	__u8 state = sk->__sk_common.skc_state;

	if (state == TCP_NEW_SYN_RECV || state == TCP_TIME_WAIT) /* not full sockets */
		return false;
	return sk->sk_protocol == IPPROTO_TCP && !may_be_followed(sk);
}

/* Identifies a packet sent by a socket (not NULL); false if that is not followed. */
static __always_inline bool sent_by(
	struct packet *g, __u64 *sock, const struct sk_buff *skb, const struct sock *sk)
{
	__u8 state = sk->__sk_common.skc_state;
	struct other *o;

	/* not a full socket */
	if (state == TCP_NEW_SYN_RECV)
		return sent_by_request(g, sock, skb, sk);
	if (state == TCP_TIME_WAIT) /* neither, nor followed */
		return false;
	if (sk->sk_protocol == IPPROTO_TCP) {
		*sock = cookie_of(sk);
		if (!*sock)
			return false;
		if (!says_tcp(skb->head + skb->network_header))
			return carried(g, skb, true);
		return segment_at_transport(g, skb);
	}
	o = other_of(sk);
	/* the kernel has just chosen its port: an answer may come before the call ends; or it was
	 * evicted */
	if (o ? sk->__sk_common.skc_num != o->lport : was_evicted(sk)) {
		meet_other(sk);
		o = other_of(sk);
	}
	if (!o)
		return false;
	*sock = o->id;
	return datagram_sent(g, skb, sk);
}

#if defined(CAN_RECALL) && CAN_CAST

/*
 * Returns what `paths` has of a segment that arrives_for() has parsed and found no owner for, 0 if
 * that is not remembered.
 */
static __always_inline __u64 path_of_parsed(const struct packet *g)
{
	__u64 path;

	return g->tuple && recall(MEMO_WAYS, g->tuple, generation_of_paths(), &path) ? path : 0;
}

/*
 * Remembers it. `now` is generation_of_paths() from before it was looked up. A segment whose key a
 * full table has thrown out is counted as lost each time, and not remembered.
 */
static __always_inline void remember_path(const struct packet *g, __u64 path, __u64 now)
{
	if (g->tuple && !is_remembered(g->tuple))
		memorize(MEMO_WAYS, g->tuple, now, path);
}

/*
 * Returns whether a segment for no followed socket is on a path that is remembered: then no request
 * was there for it. One that opens a connection may be for another.
 */
static __always_inline bool is_on_known_path(const struct packet *g)
{
	return path_of_parsed(g) && !opens(g->flags);
}

#define SET_TUPLE(g, number) ((g)->tuple = (number))

/* Returns whether this is the path of what the socket (NULL: none) sends. */
static __always_inline bool is_path_of(__u64 path, const struct sock *sk)
{
	__u8 state;

	if (!sk)
		return true;
	state = sk->__sk_common.skc_state;
	if (state == TCP_NEW_SYN_RECV || state == TCP_TIME_WAIT) /* not full sockets */
		return false;
	return sk->sk_protocol == IPPROTO_TCP && path == (PATH_FROM | cookie_of(sk));
}

#else

/* The frames have no room for more. */
#define path_of_parsed(g)           ((__u64)0)
#define is_on_known_path(g)         false
#define is_path_of(path, sk)        false
#define remember_path(g, path, now) (void)(now)
#define learn_path(g, skb, ip, version)
#define SET_TUPLE(g, number)

#endif

/*
 * Returns whether a segment belongs to a connection that is not followed: most do, and this test is
 * cheap. A SYN may be the first one of a connection.
 */
static __always_inline bool is_others(unsigned char *ip, int version)
{
	const volatile struct ipv4_bytes *v4;
	const volatile struct tcp_bytes *t;

	if (!CAN_CAST || version != 4)
		return false;
	v4 = bpf_rdonly_cast(ip, bpf_core_type_id_kernel(struct iphdr));
	if (v4->protocol != IPPROTO_TCP || v4->frag_off & bpf_htons(0x1fff))
		return false;
	t = bpf_rdonly_cast(
		ip + (v4->version_ihl & 15) * 4, bpf_core_type_id_kernel(struct tcphdr));
	return !ports_followed(t->dport, t->sport) && !opens(t->flags);
}

/* Returns whether a segment that opens a connection is for a followed listener. */
static __always_inline bool is_listened_to(unsigned char *ip, __u32 netns)
{
	struct endpoints e = {.netns = netns};
	__u64 key;

	if (!read_segment_ends(&e, ip))
		return false;
	key = (__u64)netns << 16 | e.rport;
	if (!bpf_map_lookup_elem(&listeners, &key))
		return false;
	/* for TCP the filters judge both sides alike */
	return !settings.active || judge(&e, MG_KIND_tcp) == WANTED;
}

/*
 * Returns whether a segment that is for no socket is for a request to connect, which a SYN makes
 * and its answer makes known.
 */
static __noinline bool is_for_request(
	const struct packet *g, __u64 tuple, unsigned char *ip, __u32 netns)
{
	if (request_at(tuple))
		return true;
	if (g->len)
		count_thrown_out(tuple);
	return opens(g->flags) && is_listened_to(ip, netns);
}

static __always_inline int find_receiver(struct packet *g, __u64 *sock, const struct sk_buff *skb,
	unsigned char *ip, int version, __u32 netns, bool recalls_path)
{
	__u64 tuple, cookie;

	if (segment_at_ip(g, &tuple, skb, ip, version, netns)) {
		SET_TUPLE(g, tuple);
		cookie = cookie_by_tuple(tuple);
		if (!cookie && ((recalls_path && is_on_known_path(g)) ||
				       !is_for_request(g, tuple, ip, netns)))
			return PLACE_NONE;
		*sock = cookie ? cookie : MG_REQUEST_ID | tuple;
		return PLACE_OWN;
	}
	return datagram_arrived(g, sock, skb, ip, version, netns);
}

/*
 * Returns PLACE_* for a packet for a followed socket of this namespace; the header of this IP
 * version is at `ip`.
 */
static __always_inline int arrives_for(struct packet *g, __u64 *sock, const struct sk_buff *skb,
	unsigned char *ip, int version, __u32 netns)
{
	return find_receiver(g, sock, skb, ip, version, netns, true);
}

/* The same for a dropped packet: that is rare, and its hook's frame has no room for the short way.
 */
static __always_inline int dropped_for(struct packet *g, __u64 *sock, const struct sk_buff *skb,
	unsigned char *ip, int version, __u32 netns)
{
	return find_receiver(g, sock, skb, ip, version, netns, false);
}

/* Returns where a packet is seen that is on this path of a socket's. */
static __always_inline int owner_on(__u64 path, __u64 *sock)
{
	*sock = path & ~PATH_FROM;
	return path & PATH_FROM ? VIA_FROM : VIA_TO;
}

/*
 * Identifies a packet between namespaces, where it has no socket: forwarded, or bridged. The tuple
 * is a receiver's; the sender's is the reverse. `g` is all 0, or the packet as arrives_for() left
 * it.
 */
static __noinline int on_its_way(
	struct packet *g, __u64 *sock, const struct sk_buff *skb, unsigned char *ip, int version)
{
	__u64 key, path = path_of_parsed(g), now = generation_of_paths();
	struct datagram d = {};
	int via;

	if (path || segment_at_ip(g, &key, skb, ip, version, NO_NETNS)) {
		if (!path) {
			path = path_at(key);
			if (path)
				remember_path(g, path, now);
		}
		if (!path) {
			count_thrown_out(key);
			return 0;
		}
		return owner_on(path, sock);
	}
	if (!datagram_at(&d, skb, ip, version))
		return 0;
	via = find_way(&d, sock);
	if (via)
		datagram_packet(g, &d, skb);
	return via;
}

#if defined(CAN_RECALL) && CAN_CAST

/*
 * Remembers the path of a segment that arrives_for() has found no owner for, and that still has its
 * socket, so that nobody has looked for its path: IP, where it has none, then need not look for a
 * request.
 */
static __noinline int learn_path(
	const struct packet *g, const struct sk_buff *skb, unsigned char *ip, int version)
{
	__u64 key, path, now = generation_of_paths();
	struct packet again;

	if (!g->tuple || path_of_parsed(g) /* another connection's */ ||
		!segment_at_ip(&again, &key, skb, ip, version, NO_NETNS))
		return 0;
	path = path_at(key);
	if (path)
		remember_path(g, path, now);
	return 0;
}

#endif

/* Returns whether a received packet comes from a followed socket of this namespace. */
static __noinline bool comes_back(
	struct packet *g, __u64 *sock, const struct sk_buff *skb, unsigned char *ip, __u32 netns)
{
	struct datagram d = {}, back;

	/* TCP's are known by their path */
	if (!datagram_at(&d, skb, ip, ip_version(skb)) || d.offset)
		return false;
	back = d;
	__builtin_memcpy(back.src, d.dst, sizeof(d.dst));
	__builtin_memcpy(back.dst, d.src, sizeof(d.src));
	back.sport = d.dport;
	back.dport = d.sport;
	if (find_place(netns, &back, sock) != PLACE_OWN)
		return false;
	datagram_packet(g, &d, skb);
	return true;
}

/* Remembers a packet from another namespace that still has its socket: later it has none. */
static __noinline void comes_from(
	const struct sk_buff *skb, unsigned char *ip, __u64 sock, int version)
{
	struct datagram d = {};

	if (datagram_at(&d, skb, ip, version))
		learn_way(&d, sock);
}

#endif
