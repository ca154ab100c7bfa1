/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The state of traced threads' calls in a table by their numbers: that is found by loads alone,
 * where task storage takes the call of a helper, and the pointer to the task another one. A thread
 * takes its place at a recorded call while mg_ring.runs is kept, and leaves it when it ends; before
 * that, and where another thread has the place, its task storage has the state.
 *
 * mg_ring.runs names only threads with a place. Some kernels run no programs on behalf of some
 * tasks, not even where the CPU switches to another: such a task never calls, and is never named.
 */
#ifndef MAGNET_BPF_CALLER_H
#define MAGNET_BPF_CALLER_H

struct caller {
	__u64 thread; /* 0: nobody's; TAKING: not ready yet */
	struct task_state state;
	__u64 unused[2];
};
_Static_assert(sizeof(struct caller) == MG_CALLER_BYTES, "MG_CALLER_BYTES");
#define TAKING 1 /* no thread's: its process would have the id 0 */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE); /* begins with a cache line */
	__uint(max_entries, MG_CALLERS);
	__type(key, __u32);
	__type(value, struct caller);
} callers SEC(".maps");

/* Returns a thread's numbers, as bpf_get_current_pid_tgid() does. */
static __always_inline __u64 numbers_of(const struct task_struct *t)
{
	return (__u64)TASK_READ(t, tgid) << 32 | (__u32)TASK_READ(t, pid);
}

#ifdef MG_OLD /* its task storage is such a table */
#define caller_state(thread)      ((struct task_state *)NULL)
#define take_place(thread, state) (state)
#define leave_place(t, thread)
#else
static __always_inline struct caller *place_of(__u64 thread)
{
	__u32 at = thread & (MG_CALLERS - 1);

	return bpf_map_lookup_elem(&callers, &at);
}

/* Returns the state of a thread that has its place; else NULL. */
static __always_inline struct task_state *caller_state(__u64 thread)
{
	struct caller *c = place_of(thread);

	return c && thread && c->thread == thread ? &c->state : NULL;
}

static __always_inline void set_thread(struct caller *c, __u64 thread)
{
#if defined(__TARGET_ARCH_x86)
	asm volatile("" ::: "memory"); /* this CPU does not reorder stores */
	*(volatile __u64 *)&c->thread = thread;
#else
	__sync_lock_test_and_set(&c->thread, thread);
#endif
}

/*
 * Moves the current thread's state from its task storage to its place, if nobody has that. Returns
 * where it is. A call of the thread is to be recorded.
 */
static __always_inline struct task_state *take_place(__u64 thread, struct task_state *stored)
{
	struct caller *c = place_of(thread);

	if (!c || c->thread || __sync_val_compare_and_swap(&c->thread, 0, TAKING))
		return stored;
	c->state = *stored;
	stored->serves = 1;
	set_thread(c, thread);
	stored->placed = 1; /* last: programs on top of this one ask for it */
	return &c->state;
}

/* Moves the state of a thread that had these numbers back to its task storage. */
static __always_inline void leave_place(struct task_struct *t, __u64 thread)
{
	struct caller *c = place_of(thread);
	struct task_state *stored;

	if (!c || c->thread != thread)
		return;
	stored = task_storage(&tasks, t, 0);
	if (stored)
		*stored = c->state;
	set_thread(c, 0);
}
#endif

/* Returns the state of the current thread, `t`; NULL if it is not traced. */
static __always_inline struct task_state *state_of_task(struct task_struct *t)
{
	struct task_state *stored = task_of(t);

	return stored && stored->placed ? caller_state(numbers_of(t)) : stored;
}

/* Returns the current thread's numbers if it has a place and that is known here, else 0. */
static __always_inline __u64 traced_here(void)
{
	const struct mg_ring *r = ring_here();

	return r ? traced_on(r) : 0;
}

/*
 * Returns the current task, for reading. `thread` is what traced_here() has returned: if it is not
 * 0 no helper is called.
 */
static __always_inline const struct task_struct *task_here(__u64 thread)
{
#if CAN_CAST
	const struct mg_ring *r = thread ? ring_here() : NULL;

	return CAST(task_struct, r ? (void *)r->task : (void *)bpf_get_current_task());
#else
	return bpf_get_current_task_btf();
#endif
}

static __always_inline bool runs_are_kept(void)
{
	const struct mg_ring *r = ring_here();

	return r && r->epoch_now;
}

static __always_inline struct task_state *current_task(void)
{
	__u64 thread = traced_here();
	struct task_state *state = thread ? caller_state(thread) : NULL;

	return state ? state : state_of_task(bpf_get_current_task_btf());
}

#endif
