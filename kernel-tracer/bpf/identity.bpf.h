/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Announces every live connection and task again with current numbers, on request. A part of the
 * recording that begins with these can be read alone, like one of a tracer attached late. They are
 * read from the iterators' file and pass no ring.
 */

#define TELL(seq, event, type, e, who, process, ...)                                            \
	do {                                                                                    \
		struct mg_identity one_ = {.id = MG_EVENT_##event, .tid = who, .pid = process}; \
		struct type *e = (void *)one_.payload;                                          \
		_Static_assert(sizeof(struct type) <= MG_SLOT_PAYLOAD, "no room");              \
		__VA_ARGS__;                                                                    \
		bpf_seq_write(seq, &one_, sizeof(one_));                                        \
	} while (0)

static __always_inline void tell_addr(struct seq_file *seq, __u64 id, const struct endpoints *ends)
{
	if (!cfg.anonymize)
		TELL(seq, sock_addr, mg_sock_addr, e, 0, 0, {
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

SEC("iter/bpf_map_elem")
int tell_connections(struct bpf_iter__bpf_map_elem *ctx)
{
	const __u64 *key = ctx->key;
	const struct sock_entry *entry = ctx->value;
	const struct tcp_sock *tp;
	const struct sock *sk;
	struct endpoints ends = {};
	__u64 cookie;

	if (!key || !entry)
		return 0;
	sk = (void *)*key;
	tp = (void *)*key;
	cookie = entry->cookie;
	/* no lock is held: the memory may be another socket's by now */
	if (!cookie || BPF_CORE_READ(sk, __sk_common.skc_cookie.counter) != cookie)
		return 0;
	read_ends(sk, &ends);
	TELL(ctx->meta->seq, sock_open, mg_sock_open, e, 0, 0, {
		e->sock = cookie;
		read_numbers(tp, e);
	});
	TELL(ctx->meta->seq, sock_state, mg_sock_state, e, 0, 0, {
		e->sock = cookie;
		e->write_seq = BPF_CORE_READ(tp, write_seq);
		e->snd_una = BPF_CORE_READ(tp, snd_una);
		e->rcv_nxt = BPF_CORE_READ(tp, rcv_nxt);
		e->copied_seq = BPF_CORE_READ(tp, copied_seq);
		e->netns = ends.netns;
		e->lport = cfg.anonymize ? 0 : ends.lport;
		e->rport = cfg.anonymize ? 0 : ends.rport;
		e->now = BPF_CORE_READ(sk, __sk_common.skc_state);
		e->family = BPF_CORE_READ(sk, __sk_common.skc_family);
		e->ulp = ulp_of(tp);
	});
	tell_addr(ctx->meta->seq, cookie, &ends);
	return 0;
}

SEC("iter/bpf_map_elem")
int tell_others(struct bpf_iter__bpf_map_elem *ctx)
{
	const __u64 *key = ctx->key;
	const struct other *o = ctx->value;
	struct endpoints ends = {};
	const struct sock *sk;
	__u16 family;
	__u64 id;

	if (!key || !o || o->verdict != WANTED)
		return 0;
	sk = (void *)*key;
	id = o->id;
	if (id != (OTHER_ID | inode_of(sk)))
		return 0;
	family = BPF_CORE_READ(sk, __sk_common.skc_family);
	if (internet(family))
		read_ends(sk, &ends);
	else
		ends.netns = BPF_CORE_READ(sk, __sk_common.skc_net.net, ns.inum);
	TELL(ctx->meta->seq, sock_new, mg_sock_new, e, 0, 0, {
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
		tell_addr(ctx->meta->seq, id, &ends);
	return 0;
}

/* Reports drops of listening sockets not reported yet; called at the end only. */
SEC("iter/bpf_map_elem")
int tell_listening(struct bpf_iter__bpf_map_elem *ctx)
{
	const __u64 *key = ctx->key, *known = ctx->value;
	struct endpoints ends = {};
	const struct sock *sk;
	__u32 more;

	if (!key || !known)
		return 0;
	sk = (void *)*key;
	if (BPF_CORE_READ(sk, __sk_common.skc_state) != TCP_LISTEN)
		return 0;
	read_ends(sk, &ends);
	more = BPF_CORE_READ(sk, sk_drops.counter) - (__u32)(*known - 1);
	if (more)
		more = without_requests((__u64)ends.netns << 16 | ends.lport, more);
	if (!more)
		return 0;
	TELL(ctx->meta->seq, tcp_listen, mg_tcp_listen, e, 0, 0, {
		e->sock = BPF_CORE_READ(sk, __sk_common.skc_cookie.counter);
		e->drops = more;
		e->netns = ends.netns;
		e->backlog = BPF_CORE_READ(sk, sk_ack_backlog);
		e->backlog_max = BPF_CORE_READ(sk, sk_max_ack_backlog);
		e->lport = cfg.anonymize ? 0 : ends.lport;
	});
	return 0;
}

SEC("iter/task")
int tell_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	if (!t || !task_traced(t))
		return 0;
	TELL(ctx->meta->seq, task_fork, mg_task_fork, e, t->pid, t->tgid, {
		e->child_tid = t->pid;
		e->child_pid = t->tgid;
		copy_name(e->comm, t->comm);
	});
	return 0;
}
