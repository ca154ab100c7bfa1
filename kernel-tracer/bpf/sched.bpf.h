/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Scheduler, and the life of traced tasks. */

/*
 * Records, at level full, the thread that leaves the CPU, or the one that gets it if only that is
 * traced.
 */
static __always_inline void tell_task(struct task_struct *t, __u32 state, bool leaves)
{
	EMIT(sched_task, mg_sched_task, e, {
		e->cpu_ns = t->se.sum_exec_runtime;
		e->pending = t->pending.signal.sig[0] |
			     POINTER(task_struct, t, signal)->shared_pending.signal.sig[0];
		e->task_tid = t->pid;
		e->state = state;
		/* threads of other scheduling classes find their CPU's queue this way, too */
		e->runnable = bpf_core_field_exists(t->se.cfs_rq) ? t->se.cfs_rq->rq->nr_running
								  : MG_NOT_KNOWN;
		e->leaves = leaves;
	});
}

/* Returns the CPU that a thread is on or was last. */
static __always_inline __u32 task_cpu(const struct task_struct *t)
{
	if (bpf_core_field_exists(t->thread_info.cpu))
		return t->thread_info.cpu;
	return ((const struct task_struct___cpu *)t)->cpu; /* before 5.16 */
}

/*
 * Returns whether a thread that could run leaves the CPU because its cgroup, or one above that, has
 * used up its CPU quota: 1 if the kernel says so of the thread, on its way back to the program;
 * before Linux 6.18, 2 if it says so of the whole run queue.
 */
static __always_inline __u8 throttled(const struct task_struct *t)
{
	if (bpf_core_field_exists(t->throttled))
		return t->throttled;
	return bpf_core_field_exists(t->se.cfs_rq) &&
			       bpf_core_field_exists(t->se.cfs_rq->throttle_count) &&
			       t->se.cfs_rq->throttle_count > 0
		       ? 2
		       : 0;
}

/* Records the switch if one of the threads is watched. */
static __always_inline void tell_switch(void *ctx, struct mg_ring *r, __u64 thread, bool preempt,
	struct task_struct *prev, struct task_struct *next, __u32 prev_state, bool out, bool in)
{
	struct taken t;

	if (!out && !in)
		return;
	if (preempt)
		prev_state = 0; /* it may have been about to sleep, but is still runnable */
	if (take_in(&t, r, thread, cfg.ring_room)) {
		struct mg_sched_switch *e = (void *)t.slot->payload;

		e->prev_tid = prev->pid;
		e->next_tid = next->pid;
		e->prev_state = prev_state;
		e->preempt = preempt;
		blocked_in(prev, out && prev_state, e);
		e->throttled = out && !prev_state ? throttled(prev) : 0;
		switching_is_decided(t.slot->ts, prev->pid, next->pid);
		publish(&t, MG_EVENT_sched_switch);
	} else { /* its duration is reported all the same */
		switching_is_decided(bpf_ktime_get_ns(), prev->pid, next->pid);
	}
	stacks_at_switch(ctx, prev, next, out, out && prev_state, in);
	if (settings.level == MG_LEVEL_full)
		tell_task(out ? prev : next, out ? prev_state : 0, out);
}

static __always_inline int sched_switch(void *ctx, bool preempt, struct task_struct *prev,
	struct task_struct *next, __u32 prev_state)
{
	struct mg_ring *r = ring_here();
	bool out, in, placed;
	__u64 thread;
	__u32 epoch;

	if (!r)
		return 0;
	epoch = *(volatile __u32 *)&r->epoch_now;
	if (r->runs && r->runs != numbers_of(prev)) /* it is executing a program */
		r->runs = 0;
	thread = traced_on(r);
	out = thread || task_watched(prev);
	placed = epoch && has_place(next);
	/* else nothing depends on it */
	in = placed || ((!out || cfg.stack_ns) && task_watched(next));
	tell_switch(ctx, r, thread, preempt, prev, next, prev_state, out, in);
	if (out || placed) { /* else none is noted */
		r->runs = placed ? numbers_of(next) : 0;
		r->task = (__u64)next;
		r->epoch = epoch;
	}
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	unsigned int prev_state)
{
	return sched_switch(ctx, preempt, prev, next, prev_state);
}

struct task_struct___old { /* before Linux 5.14 */
	long state;
} __attribute__((preserve_access_index));

/* Variant for kernels before 5.18, whose tracepoint lacks the state. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch_old, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u32 state;

	if (bpf_core_field_exists(prev->__state))
		state = BPF_CORE_READ(prev, __state);
	else
		state = BPF_CORE_READ((struct task_struct___old *)prev, state);
	return sched_switch(ctx, preempt, prev, next, state);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_sched_waking, struct task_struct *p)
{
	if (!task_watched(p))
		return 0;
	EMIT_HERE(sched_waking, mg_sched_waking, e, {
		e->wakee_tid = p->pid;
		e->wakee_pid = p->tgid;
	});
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(on_sched_wakeup, struct task_struct *p)
{
	if (!task_watched(p))
		return 0;
	EMIT(sched_wakeup, mg_sched_waking, e, {
		e->wakee_tid = p->pid;
		e->wakee_pid = p->tgid;
	});
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(on_sched_wakeup_new, struct task_struct *p)
{
	if (!task_watched(p))
		return 0;
	EMIT(sched_wakeup_new, mg_sched_waking, e, {
		e->wakee_tid = p->pid;
		e->wakee_pid = p->tgid;
	});
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(on_sched_migrate, struct task_struct *p, int to)
{
	if (!task_watched(p))
		return 0;
	EMIT(sched_migrate, mg_sched_migrate, e, {
		e->moved_tid = p->pid;
		e->from_cpu = task_cpu(p);
		e->to_cpu = to;
	});
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_task_fork, struct task_struct *parent, struct task_struct *child)
{
	if (!task_traced(parent))
		return 0;
	if (!task_storage(&tasks, child, BPF_LOCAL_STORAGE_GET_F_CREATE)) {
		count_not_traced(child);
		return 0;
	}
	EMIT(task_fork, mg_task_fork, e, {
		e->child_tid = child->pid;
		e->child_pid = child->tgid;
		copy_name(e->comm, child->comm);
	});
	return 0;
}

/* A thread that is not the first and executes a program gets the first one's number. */
static __always_inline void renumbered(struct task_struct *t, int before)
{
	struct mg_ring *r = ring_here();

	if (before == (int)TASK_READ(t, pid))
		return;
	leave_place(t, (__u64)TASK_READ(t, tgid) << 32 | (__u32)before);
	if (r)
		r->runs = 0; /* until it is switched to again */
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_task_exec, struct task_struct *p, int old_pid)
{
	TASK_RENUMBERED(&tasks, p, old_pid);
	renumbered(p, old_pid);
	if (!task_traced(p))
		return 0;
	EMIT(task_exec, mg_task_exec, e, copy_name(e->comm, p->comm));
	check_netns(POINTER(task_struct, p, nsproxy)->net_ns, p->tgid);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_task_exit, struct task_struct *p)
{
	if (task_traced(p))
		EMIT(task_exit, mg_task_exit, e, e->leader = p->pid == p->tgid);
	leave_place(p, numbers_of(p));
	TASK_GONE(&tasks, p);
	forget_counted(p);
	return 0;
}

/* Existing processes to trace, by their number; set by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MG_FOLLOWED_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, __u8);
} followed SEC(".maps");

/*
 * Run when tracing begins: marks existing tasks, and reports their names. It is run again while
 * those in `followed` are found to have more children, and leaves out what was marked before.
 */
SEC("iter/task")
int follow_existing(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;
	__u32 tgid;

	if (!t)
		return 0;
	tgid = t->tgid;
	if (!cfg.all && bpf_map_lookup_elem(&followed, &tgid)) {
		if (task_traced(t))
			return 0;
		if (!begin_tracing(t)) {
			count_not_traced(t);
			return 0;
		}
	} else if (!cfg.all && !task_traced(t)) { /* the loader marks the tasks of a cgroup */
		return 0;
	} else if (cfg.all && t->tgid == not_traced) {
		return 0;
	}
	EMIT(task_fork, mg_task_fork, e, {
		e->child_tid = t->pid;
		e->child_pid = t->tgid;
		copy_name(e->comm, t->comm);
	});
	return 0;
}
