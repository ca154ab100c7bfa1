/* SPDX-License-Identifier: MIT */
/*
 * Children and threads whose thread-local storage does not come from the C library: the program
 * passed its own block when it made them (CLONE_SETTLS). errno and mg_self do not exist there; an
 * access may fault or overwrite the program's memory. Their calls pass straight through; only the
 * kernel side records them.
 */
#ifndef MAGNET_PRELOAD_FOREIGN_H
#define MAGNET_PRELOAD_FOREIGN_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/* Number of such blocks that may be in use. */
extern volatile uint32_t mg_foreign_blocks;

/* Remembers a block that the program passes to a child or thread. */
void mg_foreign_add(const void *block);
/* Forgets a block when no thread runs on it any more. */
void mg_foreign_remove(const void *block);
/* Forgets all blocks. Call it where the process has one thread, made by the C library. */
void mg_foreign_forget(void);
/* Returns whether the caller runs on a remembered block. */
bool mg_on_foreign_block(void);

/*
 * Returns whether errno and mg_self may be touched. Call it first wherever the caller may not be a
 * thread of the C library. It also recognises a zeroed block that no wrapper saw: a real block
 * holds its own address at its start.
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

/* Returns errno; 0 where the caller has none. */
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
