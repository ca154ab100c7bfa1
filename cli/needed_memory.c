/* SPDX-License-Identifier: MIT */
/*
 * The C library's allocation functions as used by all of magnet's process. They notice memory
 * refused to babeltrace2, GLib, jansson or the C library itself, of which some crash and others go
 * on with less. They behave differently only after mg_memory_is_vital().
 *
 * A sanitizer's run time has functions of its own, which end the process, too.
 */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#undef _FILE_OFFSET_BITS /* else mmap() would be named mmap64() */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "alloc.h"

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static inline void *needed(void *memory)
{
	if (__builtin_expect(!memory, 0))
		mg_memory_failed();
	return memory;
}

void *malloc(size_t size)
{
	return needed(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
	return needed(__libc_calloc(count, size));
}

/* With a preloaded allocator, free() must be that of __libc_malloc(). */
void free(void *memory)
{
	__libc_free(memory);
}

/* With a size of 0 the memory is freed, and NULL is no failure. */
void *realloc(void *memory, size_t size)
{
	void *moved = __libc_realloc(memory, size);

	return size ? needed(moved) : moved;
}

void *aligned_alloc(size_t alignment, size_t size)
{
	return needed(__libc_memalign(alignment, size));
}

void *memalign(size_t alignment, size_t size)
{
	return needed(__libc_memalign(alignment, size));
}

int posix_memalign(void **out, size_t alignment, size_t size)
{
	void *memory = needed(__libc_memalign(alignment, size));

	if (!memory)
		return ENOMEM;
	*out = memory;
	return 0;
}

/* This also counts for babeltrace2, which maps the files that it reads. */
void *mmap(void *at, size_t size, int prot, int flags, int fd, off_t offset)
{
	void *map = (void *)(intptr_t)syscall(SYS_mmap, at, size, prot, flags, fd, offset);

	if (map == MAP_FAILED && errno == ENOMEM)
		mg_memory_failed();
	return map;
}

void *mmap64(void *at, size_t size, int prot, int flags, int fd, off64_t offset)
	__attribute__((alias("mmap")));
#endif
