/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* System calls of traced threads on sockets, as they begin. */

/*
 * Reads a call's properties from the table: its direction, and which arguments are length and
 * flags.
 */
static __always_inline int describe(
	struct pt_regs *regs, __u32 call, __u64 *asked, __u32 *msg_flags)
{
	const volatile struct mg_call_shape *c = &cfg.shape[call & (MG_SHAPES - 1)];
	/* by the lowest two bits of the argument's number, of which none is 1 */
	__u64 args[4] = {SYS_ARG4(regs), 0, SYS_ARG2(regs), SYS_ARG3(regs)};

	*asked = args[c->length & 3];
	*msg_flags = args[c->flags & 3];
	return c->direction;
}

static __always_inline __u32 stream_position(const struct tcp_sock *tp, int dir)
{
	return dir == MG_DIR_RX ? GET(tp, copied_seq) : GET(tp, write_seq);
}

/* Returns whether small segments of a connection wait for others: TCP_NODELAY is 1, TCP_CORK 2. */
static __always_inline __u8 nagle_of(const struct tcp_sock *tp)
{
	if (CAN_CAST)
		return BPF_CORE_READ_BITFIELD(tp, nonagle) & 3;
	return BPF_CORE_READ_BITFIELD_PROBED(tp, nonagle) & 3;
}

static __always_inline __u16 mss_of(const struct tcp_sock *tp)
{
	__u32 mss = GET(tp, mss_cache);

	return mss < 0xffff ? mss : 0xffff;
}

/* Applies the filters to a call on a TCP socket; one that is not followed is judged by its ends. */
static __always_inline bool tcp_passes(struct sock *sk)
{
	struct endpoints e;

	if (!settings.active)
		return true;
	if ((!CAN_CAST || may_be_followed(CAST(sock, sk))) && sock_at(sk))
		return true;
	read_ends(sk, &e);
	return judge(&e, MG_KIND_tcp) == WANTED;
}

/* Returns a TCP socket's cookie; a followed one has one. `s` is the socket as CAST() gives it. */
static __always_inline __u64 tcp_cookie(struct sock *sk, const struct sock *s)
{
#ifdef MG_OLD
	const struct sock_entry *known = sock_at(sk);

	if (known)
		return known->cookie;
#endif
	return GET(s, __sk_common.skc_cookie.counter);
}

/* Returns the kind of a socket, cast before; the most frequent one without a call. */
static __always_inline int kind_at(const struct sock *sk)
{
	__u16 family = GET(sk, __sk_common.skc_family);
	__u16 type = GET(sk, sk_type), protocol = GET(sk, sk_protocol);

	if (protocol == IPPROTO_TCP && type == SOCK_STREAM && internet(family))
		return MG_KIND_tcp;
	return kind_of(family, type, protocol);
}

/* Applies the filters to a socket about to be made, which has no ends yet. */
static __always_inline bool new_socket_passes(const struct task_struct *t, int kind)
{
	const struct nsproxy *namespaces = TASK_POINTER(t, nsproxy);
	const struct net *net = TASK_READ(namespaces, net_ns);
	struct endpoints e = {.netns = TASK_READ(net, ns.inum)};

	return judge(&e, kind) == WANTED;
}

#define TCP_ZEROCOPY_RECEIVE 35

/* Returns an option's level and name; one option is a way to receive. */
static __always_inline __u32 socket_option(struct pt_regs *regs, __u32 call, int *dir)
{
	__u32 level = SYS_ARG1(regs), name = SYS_ARG2(regs);

	if (call == MG_SYS_getsockopt && level == IPPROTO_TCP && name == TCP_ZEROCOPY_RECEIVE)
		*dir = MG_DIR_RX;
	return level << 16 | (name & 0xffff);
}

/* A system call as it begins, before its event is written. */
struct begun_call {
	struct sock *sk;
	__u64 asked, cookie;
	__s64 fd;
	__u32 call, flags, option;
	int dir, kind;
};

/* Looks at the call's socket. Returns 0 if the filters refuse it. */
static __always_inline int look_at_socket(struct begun_call *c)
{
	struct sock *sk = c->sk;
	const struct sock *s = CAST(sock, sk);
	struct other *o;

	c->kind = kind_at(s);
	if (c->kind == MG_KIND_tcp) {
		c->cookie = tcp_cookie(sk, s);
		return tcp_passes(sk);
	}
	o = other_of(sk);
	c->cookie = o ? o->id : meet_other(sk);
	return c->cookie || !settings.active;
}

/* Remembers a call whose socket the filters refuse, since they may pass its new ends. */
static __always_inline void remember_refused(const struct begun_call *c)
{
	struct task_state *state;

	if (!c->sk || (c->call != MG_SYS_bind && c->call != MG_SYS_connect))
		return;
	state = current_task();
	if (!state)
		return;
	state->call = c->call;
	state->dir = MG_DIR_OTHER;
	state->other = c->kind != MG_KIND_tcp ? (__u64)c->sk : 0;
	state->quiet = 1;
}

/* Finds the socket of a call; false if it has none, or one that the filters refuse. */
static __always_inline bool find_socket(
	const struct task_struct *t, struct pt_regs *regs, struct begun_call *c)
{
	if (c->call == MG_SYS_socket || c->call == MG_SYS_socketpair) {
		c->kind = kind_of(SYS_ARG0(regs), SYS_ARG1(regs) & 0xf, SYS_ARG2(regs));
		return !settings.active || new_socket_passes(t, c->kind);
	}
	if (c->call == MG_SYS_io_uring_enter)
		return true;
	if (c->call == MG_SYS_splice) { /* one end is a pipe */
		c->fd = (__s32)SYS_ARG0(regs);
		c->sk = sock_of_fd(t, c->fd);
		if (c->sk && look_at_socket(c)) {
			c->call = MG_SYS_splice_in;
			c->dir = MG_DIR_RX;
			return true;
		}
		c->fd = (__s32)SYS_ARG2(regs);
		c->sk = sock_of_fd(t, c->fd);
	} else if (!CAN_CAST) { /* else the caller has found it */
		c->fd = (__s32)SYS_ARG0(regs);
		c->sk = sock_of_fd(t, c->fd);
	}
	if (c->sk && look_at_socket(c))
		return true;
	remember_refused(c);
	return false;
}

/* Stores what the hooks within the call, and its end, need. */
static __always_inline void remember_call(
	struct task_state *state, struct pt_regs *regs, const struct begun_call *c)
{
	bool tcp = c->kind == MG_KIND_tcp;

	if (state->interrupted == c->call && state->interrupted_fd == (__s32)c->fd)
		state->interrupted = 0; /* restarted */
	state->messages =
		c->call == MG_SYS_sendmmsg || c->call == MG_SYS_recvmmsg ? SYS_ARG1(regs) : 0;
	if (c->call == MG_SYS_socketpair)
		state->pair = SYS_ARG3(regs);
	state->call = c->call;
	state->quiet = 0;
	state->serves = 1;
	state->fd = c->fd;
	state->dir = c->dir;
	state->sk = tcp && c->dir != MG_DIR_OTHER ? (__u64)c->sk : 0;
	state->sock = c->cookie;
	state->other = tcp ? 0 : (__u64)c->sk;
	zerocopy_begins(state, c->sk, c->dir, c->flags);
}

/* Returns whether the filters are known to refuse the call's socket, and will after the call. */
static __always_inline bool stays_refused(const struct begun_call *c)
{
	const struct sock *s = CAST(sock, c->sk);

	return is_refused(GET(s, __sk_common.skc_cookie.counter)) && c->call != MG_SYS_bind &&
	       c->call != MG_SYS_connect;
}

/*
 * Returns whether a call concerns no socket, or a refused one; else `c` may have it. That takes
 * loads alone, fewer than the search for the thread's state, which then is not needed.
 */
static __always_inline bool is_not_wanted(
	const struct task_struct *t, struct pt_regs *regs, struct begun_call *c)
{
	if (!CAN_CAST || c->call == MG_SYS_socket || c->call == MG_SYS_socketpair ||
		c->call == MG_SYS_io_uring_enter || c->call == MG_SYS_splice ||
		c->call == MG_CALL_32BIT)
		return false;
	c->fd = (__s32)SYS_ARG0(regs);
	c->sk = sock_of_fd(t, c->fd);
	return !c->sk || stays_refused(c);
}

/* Returns the state of the thread whose call is to be recorded; NULL if memory is short. */
static __always_inline struct task_state *current_caller(const struct mg_ring *r, __u64 thread)
{
	struct task_state *state = thread ? caller_state(thread) : NULL;
	struct task_struct *t;

	if (state)
		return state;
	t = bpf_get_current_task_btf();
	state = state_of_current(t);
	if (!state)
		state = meet_task(t);
	if (state && r->epoch_now)
		state = take_place(t, state);
	if (!any_unplaced && state && !has_place(t))
		any_unplaced = 1;
	return state;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter, struct pt_regs *regs, long nr)
{
	struct begun_call c = {.kind = MG_KIND_other, .fd = -1};
	const struct task_struct *t;
	const struct tcp_sock *tp;
	struct task_state *state;
	struct mg_ring *r;
	bool tcp, sends;
	__u64 thread;

	if ((__u64)nr >= MG_NR_MAX)
		return 0;
	c.call = cfg.call_of_nr[nr];
	if (!c.call)
		return 0;
	r = ring_here();
	if (!r)
		return 0;
	thread = traced_on(r);
	t = task_here(r, thread);
	if (!thread && is_not_for_tracing(t))
		return 0;
	if (is_not_wanted(t, regs, &c))
		return 0;
	if (!(thread && caller_state(thread)) && !state_of_current(bpf_get_current_task_btf()) &&
		!everything(t) && !((settings.active || settings.cgroup) && current_selects()))
		return 0;
	if (is_of_32bit(t, c.call) || SYS_ARG5(regs) == MG_NOT_THE_PROGRAMS)
		return 0;
	c.dir = describe(regs, c.call, &c.asked, &c.flags);
	if (c.call == MG_SYS_setsockopt || c.call == MG_SYS_getsockopt)
		c.option = socket_option(regs, c.call, &c.dir);
	if (!find_socket(t, regs, &c))
		return 0;
	/* both again, here and at the end: the verifier would walk what follows for each way to
	 * here */
	thread = traced_on(r);
	state = current_caller(r, thread);
	if (!state)
		return 0;
	tcp = c.kind == MG_KIND_tcp && c.sk;
	sends = tcp && c.dir != MG_DIR_RX;
	if (tcp && (c.call == MG_SYS_accept || c.call == MG_SYS_accept4))
		tell_drops(c.sk, c.cookie);
	remember_call(state, regs, &c);
	tp = CAST(tcp_sock, c.sk);
	EMIT_IN(r, traced_on(r), sys_enter, mg_sys_enter, e, {
		e->sock = c.cookie;
		e->asked = c.asked;
		e->fd = c.fd;
		e->flags = c.flags;
		e->option = c.option;
		e->seq = tcp ? stream_position(tp, c.dir) : 0;
		e->call = c.call;
		e->kind = c.kind;
		e->nagle = sends ? nagle_of(tp) : 0;
		e->mss = sends ? mss_of(tp) : 0;
	});
	stacks_at(ctx, c.cookie, MG_EVENT_stack_call);
	return 0;
}
