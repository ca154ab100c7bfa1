/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Scheduler, softirqs, and the life of traced tasks. */

static __always_inline int sched_switch(
	bool preempt, struct task_struct *prev, struct task_struct *next, __u32 prev_state)
{
	if (!task_traced(prev) && !task_traced(next))
		return 0;
	EMIT(sched_switch, mg_sched_switch, e, {
		e->prev_tid = prev->pid;
		e->next_tid = next->pid;
		e->prev_state = preempt ? 0 : prev_state;
		e->preempt = preempt;
	});
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next,
	unsigned int prev_state)
{
	return sched_switch(preempt, prev, next, prev_state);
}

SEC("tp_btf/sched_waking")
int BPF_PROG(on_sched_waking, struct task_struct *p)
{
	if (!task_traced(p))
		return 0;
	EMIT(sched_waking, mg_sched_waking, e, {
		e->wakee_tid = p->pid;
		e->wakee_pid = p->tgid;
	});
	return 0;
}

static __always_inline bool network_softirq(unsigned int vec)
{
	return (vec == NET_TX_SOFTIRQ || vec == NET_RX_SOFTIRQ) &&
	       task_traced(bpf_get_current_task_btf());
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(on_softirq_entry, unsigned int vec)
{
	if (network_softirq(vec))
		EMIT(softirq_entry, mg_softirq, e, e->vec = vec);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(on_softirq_exit, unsigned int vec)
{
	if (network_softirq(vec))
		EMIT(softirq_exit, mg_softirq, e, e->vec = vec);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_task_fork, struct task_struct *parent, struct task_struct *child)
{
	if (!task_traced(parent))
		return 0;
	if (!bpf_task_storage_get(&tasks, child, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE))
		return 0;
	EMIT(task_fork, mg_task_fork, e, {
		e->child_tid = child->pid;
		e->child_pid = child->tgid;
		__builtin_memcpy(e->comm, child->comm, 16);
	});
	return 0;
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_task_exec, struct task_struct *p)
{
	if (!task_traced(p))
		return 0;
	EMIT(task_exec, mg_task_exec, e, __builtin_memcpy(e->comm, p->comm, 16));
	check_netns(p->nsproxy->net_ns, p->tgid);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_task_exit, struct task_struct *p)
{
	if (task_traced(p))
		EMIT(task_exit, mg_task_exit, e, e->leader = p->pid == p->tgid);
	return 0;
}

/* Run once when tracing begins on what already exists: marks it, and tells its names. */
SEC("iter/task")
int follow_existing(struct bpf_iter__task *ctx)
{
	struct task_struct *t = ctx->task;

	if (!t)
		return 0;
	if (!cfg.all && t->tgid == cfg.follow_pid) {
		if (!begin_tracing(t))
			return 0;
	} else if (!cfg.all && !task_traced(t)) { /* the loader marks the tasks of a cgroup */
		return 0;
	} else if (cfg.all && t->tgid == not_traced) {
		return 0;
	}
	EMIT(task_fork, mg_task_fork, e, {
		e->child_tid = t->pid;
		e->child_pid = t->tgid;
		__builtin_memcpy(e->comm, t->comm, 16);
	});
	return 0;
}
