/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Linux before 5.12 has no storage in tasks, no current task that programs may read from, no cookie
 * for the asking, and takes no pointers to memory in global functions. The same sources are
 * compiled for it with MG_OLD, and these in place of what is missing.
 */
#ifndef MAGNET_BPF_OLD_H
#define MAGNET_BPF_OLD_H

#ifdef MG_OLD

/* A function the verifier walks once, though it has pointers: there it walks it at each call. */
#define __global static __noinline

/* A member of a task that may be the current one. */
#define TASK_READ(t, member) BPF_CORE_READ(t, member)

#define bpf_get_current_task_btf() ((struct task_struct *)bpf_get_current_task())

/* A number that lies in memory, where the verifier may take it for the pointer it was. */
static __always_inline __u64 number_at(const __u64 *at)
{
	__u64 n = 0;

	bpf_probe_read_kernel(&n, sizeof(n), at);
	return n;
}

/* Like the kernel's, in a table by thread. */
#define task_storage(map, t, flags)                                           \
	({                                                                    \
		__u32 tid_ = BPF_CORE_READ(t, pid);                           \
		struct task_state *state_ = bpf_map_lookup_elem(map, &tid_);  \
		if (!state_ && (flags)) {                                     \
			struct task_state none_ = {};                         \
			bpf_map_update_elem(map, &tid_, &none_, BPF_NOEXIST); \
			state_ = bpf_map_lookup_elem(map, &tid_);             \
		}                                                             \
		state_;                                                       \
	})

/* What the kernel does by itself with storage in tasks. */
#define TASK_GONE(map, t)                           \
	do {                                        \
		__u32 tid_ = BPF_CORE_READ(t, pid); \
		bpf_map_delete_elem(map, &tid_);    \
	} while (0)

/* A thread that is not the first and begins a program gets the number of the first. */
#define TASK_RENUMBERED(map, t, old)                                       \
	do {                                                               \
		__u32 from_ = old, to_ = BPF_CORE_READ(t, pid);            \
		struct task_state none_ = {};                              \
		if (from_ != to_ && bpf_map_delete_elem(map, &from_) == 0) \
			bpf_map_update_elem(map, &to_, &none_, BPF_ANY);   \
	} while (0)

/* The kernel's if somebody asked for one before, else the time: those count from 1, and stay far
 * below. */
static __always_inline __u64 socket_cookie(const struct sock *sk)
{
	__u64 cookie = BPF_CORE_READ(sk, __sk_common.skc_cookie.counter);

	return cookie ? cookie : bpf_ktime_get_ns();
}

/* Of a socket that connects, perhaps after it was refused: then it keeps the number it has. */
#define cookie_again(sk, before) ((before) ? (before) : socket_cookie(sk))

#else

#define __global             __noinline
#define TASK_READ(t, member) ((t)->member)
#define number_at(at)        (*(at))
#define TASK_GONE(map, t)
#define TASK_RENUMBERED(map, t, old)
#define task_storage(map, t, flags) bpf_task_storage_get(map, t, NULL, flags)
#define socket_cookie(sk)           bpf_get_socket_cookie(sk)
#define cookie_again(sk, before)    ((void)(before), socket_cookie(sk))

#endif
#endif
