/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Selection of threads: those of the traced process tree, of a cgroup, or all. A traced thread has
 * task storage, which also knows the system call that it is in, unless caller.bpf.h does.
 */
#ifndef MAGNET_BPF_TASK_H
#define MAGNET_BPF_TASK_H

#define PF_EXITING   0x4
#define PF_IO_WORKER 0x10
#define PF_KTHREAD   0x200000

/*
 * Members that each call uses come first: they share a cache line, of which the kernel takes the
 * first 8 bytes.
 */
struct task_state {
	__u64 sk;   /* address of the socket of the system call it is in, 0 = not TCP */
	__u64 sock; /* its cookie */
	__u16 call; /* MG_SYS_* of that call, 0 = none that is recorded */
	__u8 dir;   /* MG_DIR_* */
	__u8 again; /* value of `call` after the call: 0, except for calibration (MG_TASK_AGAIN) */
	__s32 fd;
	__u64 messages; /* the vector of sendmmsg and recvmmsg */
	__u64 other;    /* address of a socket that is not TCP's, 0 = none */
	__u64 zerocopy; /* address of the socket it sends on with MSG_ZEROCOPY, 0 = it does not */
	/* the call that a signal handler interrupted */
	__s32 interrupted_fd;
	__u8 interrupted; /* MG_SYS_*, 0 = none */
	__u8 serves;      /* a call of it has been recorded */
	__u8 quiet;       /* the call is not recorded, but may change the selection */
	__u8 errors;      /* it reads the socket's error queue */
	__u64 interrupted_sock;
	__u64 pair; /* address to which socketpair() writes its two descriptors */
	__u32 zerocopy_first;
	__u8 placed; /* in task storage: a caller's place has the state of its calls */
	__u8 unused[3];
	/* the stacks with which it blocked, if they are recorded; `off_since` 0: it has not */
	__u64 off_since, off_user, off_kernel;
};
_Static_assert(__builtin_offsetof(struct task_state, again) == MG_TASK_AGAIN, "MG_TASK_AGAIN");
_Static_assert(sizeof(struct task_state) <= MG_TASK_MARK, "MG_TASK_MARK");

#ifdef MG_OLD
struct task_state new_task SEC(".data.task") = {}; /* it would fill a program's frame */
#endif

struct {
#ifdef MG_OLD
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
#else
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
#endif
	__type(key, int);
	__type(value, struct task_state);
} tasks SEC(".maps");

/* The cgroup whose tasks are traced, set by the loader. */
struct {
	__uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cgroups SEC(".maps");

/* The tracer's own process, never traced by `all` or with its cgroup; set after calibration. */
volatile __u32 not_traced SEC(".data.tracer") = 0;

/*
 * Returns whether the task is traced because everything is, except the tracer. With a filter only
 * tasks that have used a passing socket are traced: they have storage.
 */
static __always_inline bool everything(const struct task_struct *t)
{
	return cfg.all && !settings.active && TASK_READ(t, tgid) != not_traced;
}

/*
 * Returns false for a task of which no program keeps anything, as most are: one load, where the
 * look-up takes a call.
 */
static __always_inline bool may_have_storage(const struct task_struct *t)
{
#if CAN_CAST
	if (bpf_core_field_exists(t->bpf_storage))
		return TASK_POINTER(t, bpf_storage);
#endif
	return true;
}

/* Returns whether a task is not traced, and will not be for the socket that it uses. */
static __always_inline bool is_not_for_tracing(const struct task_struct *t)
{
	return !cfg.all && !settings.cgroup && !may_have_storage(t);
}

static __always_inline struct task_state *task_of(struct task_struct *t)
{
	if (!everything(t) && !may_have_storage(t))
		return NULL;
	return task_storage(&tasks, t, everything(t) ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
}

/* Starts tracing the current task, which has used a socket that a filter passes. */
static __always_inline struct task_state *begin_tracing(struct task_struct *t)
{
	return task_storage(&tasks, t, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

#include "caller.bpf.h"

/*
 * Reports the current thread, and its process's name: by its first thread, since a thread may have
 * another name. A global function, which the verifier follows once.
 */
__noinline int tell_process(void)
{
	struct task_struct *t = bpf_get_current_task_btf();
	const struct task_struct *leader = BPF_CORE_READ(t, group_leader);

	EMIT_RARE(task_fork, mg_task_fork, e, {
		e->child_tid = BPF_CORE_READ(leader, pid);
		e->child_pid = BPF_CORE_READ(leader, tgid);
		copy_name(e->comm, leader->comm);
	});
	return 0;
}

/* Begins to trace the current task, `t`. */
static __always_inline struct task_state *meet_task(struct task_struct *t)
{
	struct task_state *state = begin_tracing(t);

	if (state)
		tell_process();
	else
		count_not_traced(t);
	return state;
}

/* Like task_of() != NULL, without making storage. */
static __always_inline bool task_traced(struct task_struct *t)
{
	if (everything(t))
		return true;
	return may_have_storage(t) && TASK_READ(t, pid) &&
	       task_storage(&tasks, t, 0); /* an idle CPU's thread has none */
}

/* Returns whether what the scheduler and interrupts do to the task is recorded. */
static __always_inline bool task_watched(struct task_struct *t)
{
	const struct task_state *state;

	if (everything(t))
		return true;
	if (!may_have_storage(t) || !TASK_READ(t, pid))
		return false;
	if (has_place(t)) /* a call of it has been recorded */
		return true;
	/* one that ends has left its place, and still closes its files */
	if (settings.served && !any_unplaced && !(TASK_READ(t, flags) & PF_EXITING))
		return false;
	state = task_storage(&tasks, t, 0);
	return state && (!settings.served || state->serves);
}

/* Returns whether the current task's sockets may be followed, if the filters pass them. */
static __always_inline bool current_selects(void)
{
	struct task_struct *t = bpf_get_current_task_btf();

	if (cfg.all)
		return TASK_READ(t, tgid) != not_traced;
	if (may_have_storage(t) && task_storage(&tasks, t, 0))
		return true;
	/* from the helper: on old kernels a task is only a number */
	return settings.cgroup && bpf_get_current_pid_tgid() >> 32 != not_traced &&
	       bpf_current_task_under_cgroup(&cgroups, 0) == 1 && meet_task(t);
}

#endif
