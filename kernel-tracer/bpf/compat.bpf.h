/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Calls of 32-bit programs: they have numbers of their own, and arguments in other registers. They
 * are not decoded; those that only sockets have are counted.
 */

#if defined(__TARGET_ARCH_x86)
#define IS_32BIT(t) (TASK_READ(t, thread_info.status) & 2) /* TS_COMPAT: of this very call */
#else
#define IS_32BIT(t) (TASK_READ(t, thread_info.flags) >> 22 & 1) /* TIF_32BIT */
#endif

/* Returns whether a call in the table is a 32-bit program's and must be ignored. */
static __always_inline bool is_of_32bit(const struct task_struct *t, __u32 call)
{
	bool compat = IS_32BIT(t);

	if (compat && call == MG_CALL_32BIT)
		count_not_seen(MG_NOT_SEEN_32BIT);
	return compat || call == MG_CALL_32BIT;
}
