/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Finds the cookie of a packet's socket, or of the path between namespaces that it is on; where it
 * can be, from what this CPU found last.
 */
#ifndef MAGNET_BPF_COOKIE_H
#define MAGNET_BPF_COOKIE_H

#ifdef CAN_RECALL

/*
 * Functions of their own for what is not remembered, which is rare; what is costs no call. This one
 * takes the address from memory, where the verifier takes it for a number.
 */
__global __u64 look_up_socket(const __u64 *address, __u64 number)
{
	__u64 now = generation_now(), cookie = address ? look_up(&socks, *address) : 0;

	memorize(MEMO_SOCKS, number, now, cookie);
	return cookie;
}

__noinline __u64 look_up_tuple(__u64 tuple)
{
	__u64 now = generation_now(), cookie = look_up(&tuples, tuple);

	memorize(MEMO_TUPLES, tuple, now, cookie);
	return cookie;
}

/*
 * Returns the cookie of a packet's socket, 0 if it is not followed. Each followed socket has its
 * number from the kernel, which no other one will have.
 */
static __always_inline __u64 cookie_of(const struct sock *sk)
{
	__u64 number, address = (__u64)sk, cookie;

	if (!may_be_followed(sk)) /* nearly all others leave here */
		return 0;
	number = sk->__sk_common.skc_cookie.counter;
	if (!number)
		return 0;
	if (is_followed(number))
		return number;
	if (recall(MEMO_SOCKS, number, generation_now(), &cookie))
		return cookie;
	return look_up_socket(&address, number);
}

/* Returns the cookie of the socket that segments with this tuple are for, or 0. */
static __always_inline __u64 cookie_by_tuple(__u64 tuple)
{
	__u64 cookie;

	if (recall(MEMO_TUPLES, tuple, generation_now(), &cookie))
		return cookie;
	return look_up_tuple(tuple);
}

/* Returns what `map` has under the key, or 0; `now` is its generation. */
static __always_inline __u64 recall_or_look_up(void *map, enum memo_of table, __u64 key, __u64 now)
{
	__u64 value;

	if (recall(table, key, now, &value))
		return value;
	value = look_up(map, key);
	memorize(table, key, now, value);
	return value;
}

__noinline __u64 path_at(__u64 key)
{
	return recall_or_look_up(&paths, MEMO_PATHS, key, generation_of_paths());
}

__noinline __u64 request_at(__u64 key)
{
	return recall_or_look_up(&requests, MEMO_REQUESTS, key, generation_now());
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
