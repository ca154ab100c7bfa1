/* SPDX-License-Identifier: MIT */
/*
 * Who calls: the thread's and the process's id without a system call, right also after any kind of
 * fork. All functions are async-signal-safe and keep errno.
 */
#ifndef MAGNET_PRELOAD_SELF_H
#define MAGNET_PRELOAD_SELF_H

#include <stdbool.h>
#include <stdint.h>

#include "foreign.h"

struct mg_app_ring;
struct mg_app_record;

struct mg_self {
	uint32_t tid, pid; /* tid 0: not known, or not certain */
	uint32_t logged;   /* cycles of the last measured logging, until it is told */
	uint32_t calls;
	uint32_t home; /* the thread's own id, while a vfork() may be on its way */
	bool vforked;  /* this may be the child, which shares its parent's memory */
	bool shared;   /* children that run beside this thread have its storage: nobody's id is kept
			*/
	bool in_kernel; /* ids are asked of the kernel: what the C library knows is the parent's */
	struct mg_app_ring *ring __attribute__((aligned(16))); /* changes together with */
	struct mg_app_record *record;
	volatile uint64_t open_at; /* 1 + position of the record being written, and by whom */
	const char *volatile open_by;
};

extern __thread struct mg_self mg_self __attribute__((tls_model("initial-exec")));

/* Nonzero; a page that the kernel wipes in every child with memory of its own. */
extern volatile uint32_t *mg_same_process;

/* The process was forked into a namespace of processes that its program had made. */
extern bool mg_self_nested;

void mg_self_init(void);
/* In the child of a fork() of the C library's. */
void mg_self_forked(void);
void mg_self_learn(void);

/* Where mg_self does not tell: the caller's ids. */
void mg_self_ask(uint32_t *tid, uint32_t *pid);

static inline void mg_self_check(void)
{
	if (__builtin_expect(mg_self.tid == 0 || !*mg_same_process, 0))
		mg_self_learn();
}

/* The C library's. */
void *mg_real_vfork(void);
typedef int (*mg_clone_fn)(int (*)(void *), void *, int, void *, ...);
mg_clone_fn mg_real_clone(void);

/*
 * Number of children that may be in this process's memory with descriptors of their own: vfork(),
 * or clone() with CLONE_VM, has made them. Those that clone() has made are looked for at times;
 * those that the kernel's call has made beside their parent count for ever.
 */
extern volatile uint32_t mg_sharing;
/* Count those no more that are gone. */
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

/* To be called before system calls that make a child or a thread, with the flags of clone(). */
void mg_before_clone(unsigned long flags, const void *tls);

#endif
