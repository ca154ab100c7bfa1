/* SPDX-License-Identifier: MIT */
/*
 * Children and threads whose thread-local storage is not the C library's: the program gave them a
 * block of its own when it made them (CLONE_SETTLS). Neither errno nor mg_self exists there, and
 * an access may fault or change memory of the program's. Their calls go straight through; the
 * kernel side records them.
 */
#ifndef MAGNET_PRELOAD_FOREIGN_H
#define MAGNET_PRELOAD_FOREIGN_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/* Number of blocks that the program has given and that may be in use. */
extern volatile uint32_t mg_foreign_blocks;

/* Remember a block that the program gives to a child or thread. */
void mg_foreign_add(const void *block);
/* Forget it: nobody runs on it any more. */
void mg_foreign_remove(const void *block);
/* Forget all: to be called where the process has one thread, and that is the C library's. */
void mg_foreign_forget(void);
/* Whether the caller runs on one of them. */
bool mg_on_foreign_block(void);

/*
 * Returns whether errno and mg_self may be touched. To be asked before either is, wherever the
 * caller is not known to be a thread of the C library's. A zeroed block is recognised also where
 * nobody saw who gave it: at its start a real one holds its own address.
 */
static inline bool mg_tls_is_ours(void)
{
	if (__builtin_expect(mg_foreign_blocks != 0, 0) && mg_on_foreign_block())
		return false;
#if defined(__x86_64__)
	uintptr_t start;

	__asm__ volatile("movq %%fs:0, %0" : "=r"(start));
	return __builtin_expect(start != 0, 1);
#else
	return true;
#endif
}

/* Returns errno; 0 where there is none. */
static inline int mg_get_errno(void)
{
	return mg_tls_is_ours() ? errno : 0;
}

static inline void mg_set_errno(int error)
{
	if (mg_tls_is_ours())
		errno = error;
}

#endif
