/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* System calls of traced threads as they end, and the sockets that they have made. */

#define MESSAGES_MAX 1024 /* UIO_MAXIOV: the kernel takes no more */

struct message_turn {
	__u64 vector;
	long count;
	__u32 sum;
};

/* Adds the bytes of the next message; they are ~0 if one cannot be read. */
static long add_message(__u64 i, void *arg)
{
	struct message_turn *m = arg;
	__u32 len;

	if ((long)i >= m->count)
		return 1;
	/* struct mmsghdr: a header of 56 bytes, the length */
	if (bpf_probe_read_user(&len, sizeof(len), (void *)(m->vector + i * 64 + 56))) {
		m->sum = ~0u;
		return 1;
	}
	m->sum += len;
	return 0;
}

/* Returns the bytes of the messages that sendmmsg or recvmmsg moved. */
__noinline __u32 message_bytes(__u64 vector, long count)
{
	struct message_turn m = {vector, count, 0};

	if (count > MESSAGES_MAX)
		return ~0u;
	LOOP(MESSAGES_MAX, add_message, &m);
	return m.sum;
}

#define EINTR                 4
#define ERESTARTSYS           512
#define ERESTART_RESTARTBLOCK 516

/*
 * Handles the return of a signal handler. A call that a signal interrupts leaves the kernel to be
 * restarted; whether it is, or ends with EINTR, is decided when the handler is called, and shows
 * when that returns.
 */
static __always_inline int after_handler(long ret)
{
	struct task_state *state = current_task();

	if (!state || !state->interrupted || ret != -EINTR)
		return 0;
	EMIT(sys_exit, mg_sys_exit, e, {
		e->sock = state->interrupted_sock;
		e->ret = ret;
		e->seq = 0;
		e->bytes = 0;
		e->call = state->interrupted;
	});
	state->interrupted = 0;
	return 0;
}

/* Meets the socket unless it is TCP's, which is met by its states. */
static __always_inline void meet_unless_tcp(const struct sock *sk)
{
	__u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);

	if (kind_of(family, BPF_CORE_READ(sk, sk_type), BPF_CORE_READ(sk, sk_protocol)) !=
		MG_KIND_tcp)
		meet_other(sk);
}

__noinline int meet_fd(__s64 fd)
{
	struct sock *sk = sock_of_fd(bpf_get_current_task_btf(), fd);

	if (sk)
		meet_unless_tcp(sk);
	return 0;
}

__noinline int meet_pair(__u64 descriptors)
{
	__s32 pair[2];

	if (bpf_probe_read_user(pair, sizeof(pair), (void *)descriptors))
		return 0;
	meet_fd(pair[0]);
	meet_fd(pair[1]);
	return 0;
}

/* Meets the sockets that the call has made, or given other ends: the first packet may come soon. */
static __always_inline void after_call(struct task_state *state, long ret)
{
	switch (state->call) {
	case MG_SYS_socketpair:
		meet_pair(state->pair);
		break;
	case MG_SYS_socket:
	case MG_SYS_accept:
	case MG_SYS_accept4:
		meet_fd(ret);
		break;
	case MG_SYS_bind:
	case MG_SYS_connect:
		if (state->other)
			meet_other((void *)state->other);
		break;
	}
}

/*
 * Returns whether it is certain that no call of the current thread, which `runs` does not name, has
 * been recorded or remembered. That spares the look-up of task storage.
 */
static __always_inline bool has_no_call(const struct mg_ring *r, __u32 call)
{
	bool remembered = call == MG_SYS_bind || call == MG_SYS_connect; /* if refused, too */

	return !any_unplaced && !remembered && !has_place(task_here(r, 0));
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long ret)
{
	struct task_state *state;
	__s64 nr = SYS_NR(regs);
	__u32 seq = 0, bytes = 0;
	struct mg_ring *r;
	__u64 thread;

	if (nr == -1) /* the value rt_sigreturn() leaves */
		return after_handler(ret);
	if ((__u64)nr >= MG_NR_MAX || !cfg.call_of_nr[nr])
		return 0;
	r = ring_here();
	if (!r)
		return 0;
	thread = traced_on(r);
	if (!thread && has_no_call(r, cfg.call_of_nr[nr]))
		return 0;
	state = task_by(thread);
	if (!state || !state->call)
		return 0;
	if (state->quiet) {
		if (ret >= 0)
			after_call(state, ret);
		state->call = 0;
		return 0;
	}
	if (state->sk) {
		struct sock_entry *known = state->sock ? NULL : sock_at((void *)state->sk);

		seq = stream_position(CAST(tcp_sock, (void *)state->sk), state->dir);
		if (known) /* it has been opened, or met, within the call */
			state->sock = known->cookie;
	}
	if (ret <= -ERESTARTSYS && ret >= -ERESTART_RESTARTBLOCK) {
		state->interrupted = state->call;
		state->interrupted_sock = state->sock;
		state->interrupted_fd = state->fd;
	}
	if (state->messages && ret > 0)
		bytes = message_bytes(state->messages, ret);
	EMIT_IN(r, thread, sys_exit, mg_sys_exit, e, {
		e->sock = state->sock;
		e->ret = ret;
		e->seq = seq;
		e->bytes = bytes;
		e->call = state->call;
	});
	if (state->zerocopy)
		zerocopy_sent(state, ret);
	if (ret >= 0 && state->dir == MG_DIR_OTHER)
		after_call(state, ret);
	state->call = state->again; /* so that a second copy of this program does the same */
	return 0;
}

/*
 * Replaces the two programs above where the layer syscall is not chosen: meets the sockets that
 * calls make, bind and connect, since the layers below record only what passes sockets that were
 * met. Records nothing else of a call.
 */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_socket_made, struct pt_regs *regs, long ret)
{
	__s64 nr = SYS_NR(regs);
	__u32 call;

	if ((__u64)nr >= MG_NR_MAX)
		return 0;
	call = cfg.call_of_nr[nr];
	if (call != MG_SYS_socket && call != MG_SYS_socketpair && call != MG_SYS_accept &&
		call != MG_SYS_accept4 && call != MG_SYS_bind && call != MG_SYS_connect &&
		call != MG_CALL_32BIT)
		return 0;
	if (SYS_ARG5(regs) == MG_NOT_THE_PROGRAMS || !current_selects() ||
		is_of_32bit(bpf_get_current_task_btf(), call))
		return 0;
	if (call == MG_SYS_bind || call == MG_SYS_connect) /* connect() may go on, as for TCP */
		meet_fd((__s32)SYS_ARG0(regs));
	else if (ret >= 0 && call == MG_SYS_socketpair)
		meet_pair(SYS_ARG3(regs));
	else if (ret >= 0)
		meet_fd(ret);
	return 0;
}

/* Run once when that program is attached: meets the sockets that traced tasks already have. */
SEC("iter/task_file")
int meet_existing(struct bpf_iter__task_file *ctx)
{
	struct task_struct *t = ctx->task;
	struct file *f = ctx->file;
	struct sock *sk;

	if (!t || !f)
		return 0;
	/* with a filter no task has storage yet: the sockets' own ends decide */
	if (cfg.all ? t->tgid == not_traced : !task_traced(t))
		return 0;
	sk = sock_of_file(f);
	if (!sk)
		return 0;
	/* its namespace is found through its process: the current one is the tracer */
	check_netns_number(BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum), t->tgid);
	meet_unless_tcp(sk);
	return 0;
}
