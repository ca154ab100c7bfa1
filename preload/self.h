/* SPDX-License-Identifier: MIT */
/*
 * Identity of the caller: its thread and process id without a system call, correct after any kind
 * of fork. All functions are async-signal-safe and keep errno.
 */
#ifndef MAGNET_PRELOAD_SELF_H
#define MAGNET_PRELOAD_SELF_H

#include <stdbool.h>
#include <stdint.h>

#include "foreign.h"

struct mg_app_ring;
struct mg_app_record;

struct mg_self {
	uint32_t tid, pid; /* ids of thread and process; tid is 0 while unknown or uncertain */
	uint32_t logged;   /* cycles that the last measured logging took, until they are logged */
	uint32_t calls;
	uint32_t home; /* the thread's own id, while a vfork() may be under way */
	/* whether the caller may be the vfork child, which shares its parent's memory */
	bool vforked;
	/*
	 * whether children that run beside this thread use its storage, so that no id is kept in it
	 */
	bool shared;
	/* whether ids are asked of the kernel, as the C library knows only the parent's */
	bool in_kernel;
	/* whether this thread's children are in another PID namespace than the thread */
	bool children_nested;
	struct mg_app_ring *ring __attribute__((aligned(16))); /* changes together with `record` */
	struct mg_app_record *record;
	/* 1 + position of the record being written, and the stack frame of its writer */
	volatile uint64_t open_at;
	const char *volatile open_by;
};

extern __thread struct mg_self mg_self __attribute__((tls_model("initial-exec")));

/* Points to a nonzero word in a page that the kernel wipes in every child with its own memory. */
extern volatile uint32_t *mg_same_process;

/* Whether the process was forked into a PID namespace that its program had made or entered. */
extern bool mg_self_nested;
extern uint32_t mg_self_process; /* id of the process whose memory this is */

void mg_self_init(void);
/* Call it in the child of the C library's fork(). */
void mg_self_forked(void);
void mg_self_learn(void);

/* Returns the caller's ids where mg_self does not hold them; asks the kernel if allowed. */
void mg_self_ask(uint32_t *tid, uint32_t *pid);

static inline void mg_self_check(void)
{
	if (__builtin_expect(mg_self.tid == 0 || !*mg_same_process, 0))
		mg_self_learn();
}

/* Return the C library's functions. */
void *mg_real_vfork(void);
typedef int (*mg_clone_fn)(int (*)(void *), void *, int, void *, ...);
mg_clone_fn mg_real_clone(void);

/*
 * Number of children that may run in this process's memory with descriptors of their own, made by
 * vfork() or by clone() with CLONE_VM. Those made by clone() are checked from time to time; those
 * that a raw system call made beside their parent count for ever.
 */
extern volatile uint32_t mg_sharing;
/* Removes children that have ended from the count. */
void mg_self_forget_gone(void);
bool mg_is_sharing_child(void);

/*
 * Returns whether the caller is such a child: what it writes to memory stays with its parent. Needs
 * no thread-local storage.
 */
static inline bool mg_in_vfork(void)
{
	return __builtin_expect(mg_sharing != 0, 0) && mg_is_sharing_child();
}

/* Call it before a system call that makes a child or a thread, with the flags of clone(). */
void mg_before_clone(unsigned long flags, const void *tls);

#endif
