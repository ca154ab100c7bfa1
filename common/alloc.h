/* SPDX-License-Identifier: MIT */
/*
 * Memory of all that reads recordings. A figure made without some of its memory would be wrong, so
 * that no failure of these may be overlooked: they count it, or end the process.
 *
 * A function that gets NULL only has to leave its data in order. Whoever shows the results asks
 * mg_memory_failures() before it does.
 */
#ifndef MAGNET_COMMON_ALLOC_H
#define MAGNET_COMMON_ALLOC_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Return NULL without memory, as the functions of the C library with these names. */
void *mg_malloc(size_t size) __attribute__((malloc, alloc_size(1)));
void *mg_calloc(size_t count, size_t size) __attribute__((malloc, alloc_size(1, 2)));
void *mg_realloc(void *memory, size_t size) __attribute__((alloc_size(2)));
void *mg_aligned_alloc(size_t alignment, size_t size) __attribute__((malloc, alloc_size(2)));
char *mg_strdup(const char *text) __attribute__((malloc));
char *mg_strndup(const char *text, size_t most) __attribute__((malloc));

/* Return what the C library returned; NULL with errno ENOMEM is a failure, too. */
void *mg_checked(void *result);
/* A stream to memory, as by open_memstream(). NULL without memory. */
FILE *mg_text_open(char **text, size_t *size);
/* Closes it. False, and no text, if not all that was written is there. */
bool mg_text_close(FILE *to, char **text);

/* Record a failure that was met elsewhere. */
void mg_memory_failed(void);
/* Returns how often memory was refused in this process. Compare it with what it was before. */
unsigned long mg_memory_failures(void);

/*
 * From now on a failure in this thread goes to `escape`, for work that is of no use once it has
 * failed and may be left in the middle; NULL: no more. One thread at a time.
 */
void mg_memory_escape(jmp_buf *escape);
/*
 * From now on the first failure ends the process: a line on stderr, exit status 1. For a program
 * that does nothing but show results; what is in its stdio buffers is not written any more.
 */
void mg_memory_is_vital(void);
/* Ends the process in the way above; may be called by a signal's handler. */
void mg_memory_exit(void) __attribute__((noreturn));

#endif
