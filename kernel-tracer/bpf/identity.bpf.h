/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Announces every live connection and task again with current numbers, on request. A part of the
 * recording that begins with these can be read alone, like one of a tracer attached late. They pass
 * no ring: the tracer reads those of tasks from an iterator's file. It runs the programs for
 * sockets itself (BPF_PROG_TEST_RUN), with the addresses of up to MG_ASKED as arguments, and finds
 * what they tell in `told`: kernels may refuse programs that iterate over maps.
 */

#define IDENTITY(one, event, type, e, who, process, ...)                               \
	struct mg_identity one = {.id = MG_EVENT_##event, .tid = who, .pid = process}; \
	struct type *e = (void *)one.payload;                                          \
	_Static_assert(sizeof(struct type) <= MG_SLOT_PAYLOAD, "no room");             \
	__VA_ARGS__

#define TELL(event, type, e, ...)                                  \
	do {                                                       \
		IDENTITY(one_, event, type, e, 0, 0, __VA_ARGS__); \
		tell(&one_);                                       \
	} while (0)

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct mg_told);
} told SEC(".maps");

static __always_inline struct mg_told *told_here(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&told, &zero);
}

static __always_inline void tell(const struct mg_identity *one)
{
	struct mg_told *t = told_here();
	__u32 at = t ? t->count : MG_TOLD;

	if (!t || at >= MG_TOLD)
		return;
	t->one[at] = *one;
	t->count = at + 1;
}

/* Has `told` hold what is told of each of the sockets whose addresses are the arguments. */
#define TELL_EACH(ctx, about)                                                                \
	do {                                                                                 \
		struct mg_told *t_ = told_here();                                            \
		if (!t_)                                                                     \
			return 0;                                                            \
		t_->count = 0;                                                               \
		_Pragma("unroll") for (int i_ = 0; i_ < MG_ASKED; i_++) if ((ctx)->args[i_]) \
			about((ctx)->args[i_]);                                              \
	} while (0)

static __always_inline void tell_addr(__u64 id, const struct endpoints *ends)
{
	if (!cfg.anonymize)
		TELL(sock_addr, mg_sock_addr, e, {
			e->sock = id;
			__builtin_memcpy(e->laddr, ends->laddr, 16);
			__builtin_memcpy(e->raddr, ends->raddr, 16);
		});
}

static __always_inline void read_once(const struct tcp_sock *tp, struct mg_sock_open *e)
{
	e->bytes_acked = BPF_CORE_READ(tp, bytes_acked);
	e->bytes_received = BPF_CORE_READ(tp, bytes_received);
	e->snd_una = BPF_CORE_READ(tp, snd_una);
	e->snd_nxt = BPF_CORE_READ(tp, snd_nxt);
	e->rcv_nxt = BPF_CORE_READ(tp, rcv_nxt);
	e->sent_once = BPF_CORE_READ(tp, bytes_sent) - BPF_CORE_READ(tp, bytes_retrans);
}

/*
 * Reads the numbers of a socket in use at one moment: acknowledged plus in flight equals sent,
 * except for the opener's SYN. While a segment is being passed down they disagree for some
 * microseconds; where sent bytes were dropped on this machine they always do. A function of its
 * own, so that the loop's counter stays in a register: with it on the stack, kernels before 6.12
 * take the loop for an endless one.
 */
struct read_turn {
	const struct tcp_sock *tp;
	struct mg_sock_open *e;
};

static __noinline long agree(__u64 i, void *arg)
{
	const struct read_turn *r = arg;
	const struct tcp_sock *tp = r->tp;
	struct mg_sock_open again, *e = r->e;

	read_once(tp, e);
	read_once(tp, &again);
	return (__u32)e->bytes_acked - (e->sent_once - (e->snd_nxt - e->snd_una)) <= 1 &&
	       e->snd_una == again.snd_una && e->snd_nxt == again.snd_nxt &&
	       e->bytes_received == again.bytes_received && e->rcv_nxt == again.rcv_nxt;
}

static __always_inline void read_numbers(const struct tcp_sock *tp, struct mg_sock_open *e)
{
	struct read_turn r = {tp, e};

	LOOP(128, agree, &r);
}

__noinline int tell_connection(__u64 address)
{
	const struct sock_entry *entry = bpf_map_lookup_elem(&socks, &address);
	const struct tcp_sock *tp = (void *)address;
	const struct sock *sk = (void *)address;
	struct endpoints ends = {};
	__u64 cookie;
	__u8 state;

	if (!entry)
		return 0;
	cookie = entry->cookie;
	/* no lock is held: the memory may be another socket's by now */
	if (!cookie || BPF_CORE_READ(sk, __sk_common.skc_cookie.counter) != cookie)
		return 0;
	read_ends(sk, &ends);
	state = BPF_CORE_READ(sk, __sk_common.skc_state);
	if (state != TCP_SYN_SENT) /* its numbers are not the connection's yet */
		TELL(sock_open, mg_sock_open, e, {
			e->sock = cookie;
			read_numbers(tp, e);
		});
	TELL(sock_state, mg_sock_state, e, {
		e->sock = cookie;
		e->write_seq = BPF_CORE_READ(tp, write_seq);
		e->snd_una = BPF_CORE_READ(tp, snd_una);
		e->rcv_nxt = BPF_CORE_READ(tp, rcv_nxt);
		e->copied_seq = BPF_CORE_READ(tp, copied_seq);
		e->netns = ends.netns;
		e->lport = cfg.anonymize ? 0 : ends.lport;
		e->rport = cfg.anonymize ? 0 : ends.rport;
		e->now = state;
		e->family = BPF_CORE_READ(sk, __sk_common.skc_family);
		e->ulp = ulp_of(tp);
	});
	tell_addr(cookie, &ends);
	return 0;
}

SEC("raw_tp/magnet")
int tell_connections(struct bpf_raw_tracepoint_args *ctx)
{
	TELL_EACH(ctx, tell_connection);
	return 0;
}

__noinline int tell_other(__u64 address)
{
	const struct other *o = bpf_map_lookup_elem(&others, &address);
	const struct sock *sk = (void *)address;
	struct endpoints ends = {};
	__u16 family;
	__u64 id;

	if (!o || o->verdict != WANTED)
		return 0;
	id = o->id;
	if (id != (OTHER_ID | inode_of(sk)))
		return 0;
	family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if (internet(family))
		read_ends(sk, &ends);
	else
		ends.netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	TELL(sock_new, mg_sock_new, e, {
		e->sock = id;
		e->netns = ends.netns;
		e->lport = cfg.anonymize ? 0 : ends.lport;
		e->rport = cfg.anonymize ? 0 : ends.rport;
		e->family = family;
		e->kind = o->kind;
		e->proto = internet(family) ? BPF_CORE_READ(sk, sk_protocol) : 0;
		if (family == AF_UNIX) {
			const struct unix_sock *u = (void *)sk;
			const struct sock *peer = BPF_CORE_READ(u, peer);
			__u64 ino = peer ? inode_of(peer) : 0;

			e->peer = ino ? OTHER_ID | ino : 0;
		}
	});
	if (internet(family))
		tell_addr(id, &ends);
	return 0;
}

SEC("raw_tp/magnet")
int tell_others(struct bpf_raw_tracepoint_args *ctx)
{
	TELL_EACH(ctx, tell_other);
	return 0;
}

/* Reports drops of a listening socket not reported yet; called at the end only. */
__noinline int tell_listener(__u64 address)
{
	const __u64 *known = bpf_map_lookup_elem(&listen_drops, &address);
	const struct sock *sk = (void *)address;
	struct endpoints ends = {};
	__u32 more;

	if (!known)
		return 0;
	if (BPF_CORE_READ(sk, __sk_common.skc_state) != TCP_LISTEN)
		return 0;
	read_ends(sk, &ends);
	more = BPF_CORE_READ(sk, sk_drops.counter) - (__u32)(*known - 1);
	if (more)
		more = without_requests((__u64)ends.netns << 16 | ends.lport, more);
	if (!more)
		return 0;
	TELL(tcp_listen, mg_tcp_listen, e, {
		e->sock = BPF_CORE_READ(sk, __sk_common.skc_cookie.counter);
		e->drops = more;
		e->netns = ends.netns;
		e->backlog = BPF_CORE_READ(sk, sk_ack_backlog);
		e->backlog_max = BPF_CORE_READ(sk, sk_max_ack_backlog);
		e->lport = cfg.anonymize ? 0 : ends.lport;
	});
	return 0;
}

SEC("raw_tp/magnet")
int tell_listening(struct bpf_raw_tracepoint_args *ctx)
{
	TELL_EACH(ctx, tell_listener);
	return 0;
}

SEC("iter/task")
int tell_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	if (!t || !task_traced(t))
		return 0;
	IDENTITY(one, task_fork, mg_task_fork, e, t->pid, t->tgid, {
		e->child_tid = t->pid;
		e->child_pid = t->tgid;
		copy_name(e->comm, t->comm);
	});
	bpf_seq_write(ctx->meta->seq, &one, sizeof(one));
	return 0;
}
