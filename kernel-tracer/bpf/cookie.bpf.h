/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Finds the cookie of a packet's socket, or of the path between namespaces that it is on; where it
 * can be, from what this CPU found last.
 */
#ifndef MAGNET_BPF_COOKIE_H
#define MAGNET_BPF_COOKIE_H

#ifdef CAN_RECALL

/* Takes the address from memory, where the verifier takes it for a number. */
__global __u64 cookie_at(const __u64 *address)
{
	return address ? recall(&socks, MEMO_SOCKS, *address, true) : 0;
}

/* Returns the cookie of a packet's socket, 0 if it is not followed. */
static __always_inline __u64 cookie_of(const struct sock *sk)
{
	__u64 address = (__u64)sk;

	return may_be_followed(sk) ? cookie_at(&address) : 0;
}

/* Returns the cookie of the socket that segments with this tuple are for, or 0. */
__noinline __u64 cookie_by_tuple(__u64 tuple)
{
	return recall(&tuples, MEMO_TUPLES, tuple, true);
}

/* Returns what `paths` has under the key, or 0. */
__noinline __u64 path_at(__u64 key)
{
	return recall(&paths, MEMO_PATHS, key, false);
}

/* Returns what `requests` has under the key, or 0. */
__noinline __u64 request_at(__u64 key)
{
	return recall(&requests, MEMO_REQUESTS, key, false);
}

#else

/* As above. */
static __always_inline __u64 cookie_of(const struct sock *sk)
{
	const struct sock_entry *known = sock_of(sk);

	return known ? known->cookie : 0;
}

static __always_inline __u64 cookie_by_tuple(__u64 tuple)
{
	const __u64 *cookie = bpf_map_lookup_elem(&tuples, &tuple);

	return cookie ? *cookie : 0;
}

static __always_inline __u64 path_at(__u64 key)
{
	const __u64 *path = bpf_map_lookup_elem(&paths, &key);

	return path ? *path : 0;
}

static __always_inline __u64 request_at(__u64 key)
{
	const __u64 *request = bpf_map_lookup_elem(&requests, &key);

	return request ? *request : 0;
}

#endif

#endif
