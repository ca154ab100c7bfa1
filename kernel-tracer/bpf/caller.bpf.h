/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The state of traced threads' calls in a table by their numbers: that is found by loads alone,
 * where task storage takes the call of a helper, and the pointer to the task another one. A thread
 * takes its place at a recorded call while mg_ring.runs is kept, and leaves it when it ends; before
 * that, and where another thread has the place, its task storage has the state.
 *
 * mg_ring.runs names only threads that had a place when the CPU switched to them. Some machines run
 * no program while a thread of process 1 is current, not even where the CPU switches from it to
 * another: no call of such a thread is seen, so it has no place.
 */
#ifndef MAGNET_BPF_CALLER_H
#define MAGNET_BPF_CALLER_H

struct caller {
	__u64 thread;            /* 0: nobody's; TAKING: not ready yet */
	struct task_state state; /* `placed` has no meaning here */
	__u64 task;              /* address of the thread's struct task_struct */
	__u64 unused;
};
_Static_assert(sizeof(struct caller) == MG_CALLER_BYTES, "MG_CALLER_BYTES");
#define TAKING 1 /* no thread's: its process would have the id 0 */

/* Whether a thread that does not end may have no place although a call of it was recorded. */
volatile __u8 any_unplaced SEC(".data.unplaced") = 0;

/* Returns a thread's numbers, as bpf_get_current_pid_tgid() does. */
static __always_inline __u64 numbers_of(const struct task_struct *t)
{
	return (__u64)TASK_READ(t, tgid) << 32 | (__u32)TASK_READ(t, pid);
}

#ifdef MG_OLD /* task storage is such a table there */
#define caller_state(thread) ((struct task_state *)NULL)
#define has_place(t)         false
#define take_place(t, state) (state)
#define leave_place(t, thread)
#else
/*
 * Not maps with that many elements: a search in one takes three times the instructions. One
 * variable in .bss, since libbpf before 1.1 takes no section .bss.NAME and the loader must know
 * where each part is.
 */
struct {
	struct caller callers[MG_CALLERS];
	volatile __u64 followed[MG_NUMBERS]; /* followed.bpf.h */
	volatile __u64 refused[MG_NUMBERS];  /* verdict.bpf.h */
} places_by_number __attribute__((aligned(64)));
_Static_assert(sizeof(places_by_number) == sizeof(struct mg_places), "mg_places");

static __always_inline struct caller *place_of(__u64 thread)
{
	return &places_by_number.callers[thread & (MG_CALLERS - 1)];
}

/*
 * Returns the state of a thread with a place, NULL without. Call it for a thread of which
 * has_place() is true, or was when the CPU switched to it.
 */
static __always_inline struct task_state *caller_state(__u64 thread)
{
	struct caller *c = place_of(thread);

	return thread && c->thread == thread ? &c->state : NULL;
}

/*
 * Returns whether the thread has a place. One whose end no program saw may have left its place to a
 * later one with its number.
 */
static __always_inline bool has_place(const struct task_struct *t)
{
	__u64 thread = numbers_of(t);
	const struct caller *c = place_of(thread);

	return thread && c->thread == thread && c->task == (__u64)t;
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
 * Moves the state of the current thread, `t`, from its task storage to its place, if nobody has
 * that. Returns where it is. A call of the thread is to be recorded.
 */
static __always_inline struct task_state *take_place(
	struct task_struct *t, struct task_state *stored)
{
	__u64 thread = numbers_of(t), before;
	struct caller *c = place_of(thread);

	before = c->thread;
	if (before &&
		(before != thread || c->task == (__u64)t)) /* another's, or `stored` is in it */
		return stored;
	if (__sync_val_compare_and_swap(&c->thread, before, TAKING) != before)
		return stored;
	c->state = *stored;
	c->task = (__u64)t;
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

	if (c->thread != thread || c->task != (__u64)t)
		return;
	stored = task_storage(&tasks, t, 0);
	if (stored) {
		*stored = c->state;
		stored->placed = 0;
	}
	if (!(TASK_READ(t, flags) & PF_EXITING))
		any_unplaced = 1;
	set_thread(c, 0);
}
#endif

/* Returns the state of the current thread, `t`; NULL if it is not traced. */
static __always_inline struct task_state *state_of_current(struct task_struct *t)
{
	struct task_state *stored = task_of(t), *state;

	if (!stored || !stored->placed)
		return stored;
	state = has_place(t) ? caller_state(numbers_of(t)) : NULL;
	if (state)
		return state;
	stored->placed = 0; /* its number has changed, which no program saw */
	return stored;
}

/*
 * Returns the current task, for reading. `thread` is what traced_on() has returned: if it is not 0
 * the task is in the ring, and takes no helper's call.
 */
static __always_inline const struct task_struct *task_here(const struct mg_ring *r, __u64 thread)
{
#if CAN_CAST
	return CAST(task_struct, thread ? (void *)r->task : (void *)bpf_get_current_task());
#else
	return bpf_get_current_task_btf();
#endif
}

/* Returns the state of the current thread, which traced_on() has returned unless that was 0. */
static __always_inline struct task_state *task_by(__u64 thread)
{
	struct task_state *state = thread ? caller_state(thread) : NULL;

	return state ? state : state_of_current(bpf_get_current_task_btf());
}

static __always_inline struct task_state *current_task(void)
{
	return task_by(traced_here());
}

#endif
