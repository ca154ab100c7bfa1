/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The system call in which a thread blocks, from the registers with which it entered the kernel:
 * no hook on every system call is needed.
 */

#define X32_BIT 0x40000000
/* size of a thread's kernel stack on x86-64 before 5.15, at whose end the registers are */
#define STACK_SIZE 16384

/*
 * Fills in the call of a thread whose registers are at `regs`; READ reads a member of them. On
 * both architectures the number is negative for exceptions.
 */
#if defined(__TARGET_ARCH_x86)
#define FILL_CALL(e, t, regs, READ)                                   \
	do {                                                          \
		bool compat_ = IS_32BIT(t);                           \
		(e)->nr = READ(regs, orig_ax);                        \
		(e)->arg = compat_ ? READ(regs, bx) : READ(regs, di); \
		(e)->entry = (e)->nr < 0         ? MG_ENTRY_EXCEPTION \
			     : compat_           ? MG_ENTRY_I386      \
			     : (e)->nr & X32_BIT ? MG_ENTRY_X32       \
						 : MG_ENTRY_X86_64;   \
	} while (0)
#else
#define FILL_CALL(e, t, regs, READ)                           \
	do {                                                  \
		bool compat_ = IS_32BIT(t);                   \
		(e)->nr = READ(regs, syscallno);              \
		(e)->arg = READ(regs, orig_x0);               \
		(e)->entry = (e)->nr < 0 ? MG_ENTRY_EXCEPTION \
			     : compat_   ? MG_ENTRY_ARM       \
					 : MG_ENTRY_AARCH64;    \
	} while (0)
#endif
#define DIRECT(p, member) ((p)->member)

/*
 * Bytes from a thread's stack to the registers with which it entered the kernel: the same for all
 * threads, so that the helper is called once. 0: not known yet.
 */
volatile __u64 stack_to_regs SEC(".data.found") = 0;

/* Returns the registers with which a thread entered the kernel. */
static __always_inline const struct pt_regs *regs_of(struct task_struct *t)
{
#if CAN_CAST
	__u64 stack = (__u64)t->stack, regs = stack + stack_to_regs;

	if (regs == stack) {
		regs = (__u64)bpf_task_pt_regs(t);
		stack_to_regs = regs - stack;
	}
	return CAST(pt_regs, (void *)regs);
#else
	return (const struct pt_regs *)bpf_task_pt_regs(t);
#endif
}

/* Fills in what a thread is blocked in; nothing is known of a thread that does not block. */
static __always_inline void blocked_in(
	struct task_struct *t, bool blocks, struct mg_sched_switch *e)
{
	const struct pt_regs *regs;

	e->arg = 0;
	e->nr = 0;
	e->entry = MG_ENTRY_UNKNOWN;
	e->io = 0;
	if (!blocks)
		return;
	e->io = BPF_CORE_READ_BITFIELD(t, in_iowait);
	if (t->flags & (PF_KTHREAD | PF_IO_WORKER)) {
		e->entry = MG_ENTRY_KERNEL;
	} else if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs)) { /* 5.15 */
		regs = regs_of(t);
		FILL_CALL(e, t, regs, DIRECT);
	} else {
#if defined(__TARGET_ARCH_x86)
		regs = t->stack + STACK_SIZE - bpf_core_type_size(struct pt_regs);
		if ((BPF_CORE_READ(regs, cs) & 3) == 3) /* it came from the program */
			FILL_CALL(e, t, regs, BPF_CORE_READ);
#endif
	}
	if (e->entry <= MG_ENTRY_KERNEL) {
		e->arg = 0;
		e->nr = 0;
	}
}
