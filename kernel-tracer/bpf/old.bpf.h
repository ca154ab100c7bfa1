/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Substitutes for Linux before 5.12, which has no task storage, no current task that programs may
 * read, no cookie on request, and takes no memory pointers in global functions. The same sources
 * are compiled for it with MG_OLD, and these definitions.
 */
#ifndef MAGNET_BPF_OLD_H
#define MAGNET_BPF_OLD_H

#ifdef MG_OLD

/*
 * Marks a function that the verifier should check once although it takes pointers; there it checks
 * it at each call.
 */
#define __global static __noinline

/* Reads a member of a task that may be the current one. */
#define TASK_READ(t, member) BPF_CORE_READ(t, member)

#define bpf_get_current_task_btf() ((struct task_struct *)bpf_get_current_task())

/* Returns a number in memory that the verifier may take for the pointer it was. */
static __always_inline __u64 number_at(const __u64 *at)
{
	__u64 n = 0;

	bpf_probe_read_kernel(&n, sizeof(n), at);
	return n;
}

/* Does what the kernel's task storage does, in a table by thread. */
#define task_storage(map, t, flags)                                              \
	({                                                                       \
		__u32 tid_ = BPF_CORE_READ(t, pid);                              \
		struct task_state *state_ = bpf_map_lookup_elem(map, &tid_);     \
		if (!state_ && (flags)) {                                        \
			bpf_map_update_elem(map, &tid_, &new_task, BPF_NOEXIST); \
			state_ = bpf_map_lookup_elem(map, &tid_);                \
		}                                                                \
		state_;                                                          \
	})

/* Does what the kernel itself does with task storage. */
#define TASK_GONE(map, t)                           \
	do {                                        \
		__u32 tid_ = BPF_CORE_READ(t, pid); \
		bpf_map_delete_elem(map, &tid_);    \
	} while (0)

/* Handles a thread, not the first, that executes a program and gets the first one's id. */
#define TASK_RENUMBERED(map, t, old)                                        \
	do {                                                                \
		__u32 from_ = old, to_ = BPF_CORE_READ(t, pid);             \
		if (from_ != to_ && bpf_map_delete_elem(map, &from_) == 0)  \
			bpf_map_update_elem(map, &to_, &new_task, BPF_ANY); \
	} while (0)

/*
 * Returns the kernel's cookie if one was requested before, else a hash of the time and the address:
 * cookies count from 1, and stay far below.
 */
#define OLD_COOKIE (1ull << 43)
#define socket_cookie(sk)                                                                         \
	({                                                                                        \
		__u64 cookie_ = BPF_CORE_READ(sk, __sk_common.skc_cookie.counter),                \
		      at_ = (__u64)(sk);                                                          \
		cookie_ ? cookie_                                                                 \
			: OLD_COOKIE | (mix(mix(cfg.seed, bpf_ktime_get_ns()), number_at(&at_)) & \
					       (OLD_COOKIE - 1));                                 \
	})

/* Cookie of a socket that connects, perhaps after a refusal: it keeps its number. */
#define cookie_again(sk, before) ((before) ? (before) : socket_cookie(sk))

/* The number to count a TCP socket by that is not followed: its cookie may differ each time. */
#define number_counted(sk, cookie)                        \
	({                                                \
		__u64 address_ = (__u64)(sk);             \
		(void)(cookie);                           \
		mix(cfg.seed, number_at(&address_)) >> 2; \
	})

#else

#define __global             __noinline
#define TASK_READ(t, member) ((t)->member)
#define number_at(at)        (*(at))
#define TASK_GONE(map, t)
#define TASK_RENUMBERED(map, t, old)
#define task_storage(map, t, flags) bpf_task_storage_get(map, t, NULL, flags)
#define socket_cookie(sk)           bpf_get_socket_cookie(sk)
#define cookie_again(sk, before)    ((void)(before), socket_cookie(sk))
#define number_counted(sk, cookie)  ((void)(sk), (cookie))

#endif
#endif
