/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A socket's lock, as far as it takes a call's time: waiting for it, and processing the backlog on
 * release. Both functions are called only if there is something to do.
 */

#define LOCK(program, event)                                                                 \
	int BPF_PROG(program, struct sock *sk)                                               \
	{                                                                                    \
		struct task_state *state = current_task();                                   \
		struct sock_entry *known = sock_of(sk);                                      \
                                                                                             \
		if (!state || !state->call)                                                  \
			return 0;                                                            \
		EMIT(event, mg_sock_lock, e, e->sock = known ? known->cookie : state->sock); \
		return 0;                                                                    \
	}

SEC("fentry/__lock_sock")
LOCK(on_lock_wait, lock_wait)

SEC("fexit/__lock_sock")
LOCK(on_lock_got, lock_got)

SEC("fentry/__release_sock")
LOCK(on_backlog_begin, backlog_begin)

SEC("fexit/__release_sock")
LOCK(on_backlog_end, backlog_end)
#undef LOCK
