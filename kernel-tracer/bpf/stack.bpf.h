/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Stacks (--stacks): each distinct one is sent once to the loader, through a ring buffer of its
 * own; events have its number. Without the option none of this is in the loaded programs.
 */
#ifndef MAGNET_BPF_STACK_H
#define MAGNET_BPF_STACK_H

#define STACK_LEVELS 3 /* a thread, a softirq on top of it, an interrupt on top of both */

/* Memory in which a CPU takes stacks, one for each level that may interrupt the one before. */
struct stack_room {
	__u32 level, pad;
	struct mg_stack stack[STACK_LEVELS];
};
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack_room);
} stack_rooms SEC(".maps");

/*
 * Stacks that were sent, by number. The value is another hash of the same frames: where it differs,
 * two stacks have one number, and the later one is counted as not taken.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MG_STACKS_MAX);
	__type(key, __u64);
	__type(value, __u64);
} stacks_sent SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4 << 20);
} new_stacks SEC(".maps");

/* Counts of stacks that could not be taken, by enum mg_stack_missing. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, MG_STACK_MISSING_END);
	__type(key, __u32);
	__type(value, __u64);
} stacks_missing SEC(".maps");

/* Counts a stack that could not be taken; returns 0, which is no stack's number. */
static __always_inline __u64 count_missing(__u32 why)
{
	__u64 *n = bpf_map_lookup_elem(&stacks_missing, &why);

	if (n)
		__sync_fetch_and_add(n, 1);
	return 0;
}

/* Sends a stack unless it was sent before; returns its number, 0 if there is no room for it. */
static __always_inline __u64 send_stack(struct mg_stack *s, __u64 check)
{
	__u64 id = s->id, *known = bpf_map_lookup_elem(&stacks_sent, &id);

	if (known)
		return *known == check ? id : count_missing(MG_STACK_NO_ROOM);
	if (bpf_map_update_elem(&stacks_sent, &id, &check, BPF_NOEXIST)) {
		/* there is no room, or another CPU has sent it just now */
		known = bpf_map_lookup_elem(&stacks_sent, &id);
		return known && *known == check ? id : count_missing(MG_STACK_NO_ROOM);
	}
	if (!bpf_ringbuf_output(&new_stacks, s, sizeof(*s), BPF_RB_NO_WAKEUP))
		return id;
	bpf_map_delete_elem(&stacks_sent, &id);
	return count_missing(MG_STACK_NO_ROOM);
}

/* Fills in the numbers and sends the stack, whose frames were read. */
static __always_inline __u64 number_stack(struct mg_stack *s, __u32 count, bool user)
{
	__u64 id = cfg.seed, check = ~cfg.seed;

	s->at = bpf_ktime_get_ns();
	s->pid = user ? bpf_get_current_pid_tgid() >> 32 : 0;
	s->uid = bpf_get_current_uid_gid();
	s->count = count;
	s->user = user;
	if (user) { /* addresses mean another thing in another program */
		struct task_struct *t = (void *)bpf_get_current_task();

		id = mix(id, (__u64)s->pid << 32 ^ BPF_CORE_READ(t, self_exec_id));
	}
#pragma clang loop unroll(disable)
	for (__u32 i = 0; i < MG_STACK_FRAMES; i++) {
		if (i >= count)
			break;
		id = mix(id, s->frame[i]);
		check = (check + s->frame[i]) * 0x9e3779b97f4a7c15ull;
	}
	s->id = id ? id : 1;
	return send_stack(s, check);
}

/*
 * Returns the number of the current thread's stack in the program, or of the stack in the kernel; 0
 * if it cannot be taken, which is counted.
 */
static __noinline __u64 take_stack(void *ctx, bool user)
{
	__u32 zero = 0, level;
	struct stack_room *room = bpf_map_lookup_elem(&stack_rooms, &zero);
	struct mg_stack *s;
	long bytes;
	__u64 id;

	if (!room)
		return 0;
	level = room->level;
	if (level >= STACK_LEVELS)
		return count_missing(MG_STACK_NO_ROOM);
	s = &room->stack[level];
	room->level = level + 1;
	bytes = bpf_get_stack(ctx, s->frame, sizeof(s->frame), user ? BPF_F_USER_STACK : 0);
	id = bytes < 8 ? count_missing(MG_STACK_UNREADABLE) : number_stack(s, bytes / 8, user);
	room->level = level;
	return id;
}

/* Returns whether the thread has a program to which it returns. */
static __always_inline bool has_program(struct task_struct *t)
{
	return !(TASK_READ(t, flags) & (PF_KTHREAD | PF_IO_WORKER | PF_EXITING));
}

/*
 * Takes and records the stacks at a call, a drop or a retransmission. The program's is taken only
 * where the current thread is known to have caused it, and is traced. The result has no meaning.
 */
static __noinline int stacks_here(void *ctx, __u64 cookie, __u16 event)
{
	bool of_call = event == MG_EVENT_stack_call;
	__u64 user = 0, kernel = 0, who = 0;
	struct taken t;

	if (of_call || (context_here() == MG_CONTEXT_THREAD && current_task())) {
		user = take_stack(ctx, true);
		who = bpf_get_current_pid_tgid();
	}
	if (!of_call) /* the kernel's is the same at each call */
		kernel = take_stack(ctx, false);
	if (take(&t)) {
		struct mg_stack_taken *e = (void *)t.slot->payload;

		e->sock = cookie;
		e->user = user;
		e->kernel = kernel;
		e->off_ns = 0;
		e->task_tid = who;
		e->task_pid = who >> 32;
		publish(&t, event);
	}
	return 0;
}

/* Call it after the event at which stacks are wanted. */
static __always_inline void stacks_at(void *ctx, __u64 cookie, __u16 event)
{
	if (cfg.stack_ns)
		stacks_here(ctx, cookie, event);
}

/*
 * Call it when the CPU passes from one thread to another: takes the stacks of one that blocks, and
 * records those of one that had blocked for long.
 */
static __always_inline void stacks_at_switch(void *ctx, struct task_struct *prev,
	struct task_struct *next, bool out, bool blocks, bool in)
{
	const struct task_state *call;
	struct task_state *s;
	__u64 now;

	if (!cfg.stack_ns)
		return;
	now = bpf_ktime_get_ns();
	/* makes no storage: some kernels allocate it with locks that are held here */
	s = out && has_program(prev) ? task_storage(&tasks, prev, 0) : NULL;
	if (s) /* forgets a block, of which some machines do not let the end be seen */
		s->off_since = 0;
	if (s && blocks) {
		s->off_since = now;
		s->off_user = take_stack(ctx, true);
		s->off_kernel = take_stack(ctx, false);
	}
	s = in ? task_storage(&tasks, next, 0) : NULL;
	if (!s || !s->off_since)
		return;
	call = has_place(next) ? caller_state(numbers_of(next)) : NULL;
	if (!call)
		call = s;
	if (now - s->off_since >= cfg.stack_ns)
		EMIT(stack_block, mg_stack_taken, e, {
			e->sock = call->call ? call->sock : 0;
			e->user = s->off_user;
			e->kernel = s->off_kernel;
			e->off_ns = now - s->off_since;
			e->task_tid = TASK_READ(next, pid);
			e->task_pid = TASK_READ(next, tgid);
		});
	s->off_since = 0;
}

#endif
