/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "alloc.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static atomic_ulong failures;
static atomic_bool is_vital;
static jmp_buf *_Atomic escape_to;
static pthread_t escape_of;

void mg_memory_exit(void)
{
	static const char more[] = "record fewer connections or a shorter time, or ";
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	char text[200];
	int n;

	getrlimit(RLIMIT_AS, &limit);
	if (limit.rlim_cur != RLIM_INFINITY)
		n = snprintf(text, sizeof(text),
			"magnet: out of memory: %sallow more than %llu MiB of it (ulimit -v)\n",
			more, (unsigned long long)limit.rlim_cur >> 20);
	else
		n = snprintf(text, sizeof(text),
			"magnet: out of memory: %suse a machine with more of it\n", more);
	if (write(STDERR_FILENO, text, (size_t)n) <
		0) { /* stderr is gone: the exit status is left */
	}
	_exit(EXIT_FAILURE);
}

void mg_memory_failed(void)
{
	atomic_fetch_add(&failures, 1);
	if (is_vital)
		mg_memory_exit();
	if (escape_to && pthread_equal(escape_of, pthread_self()))
		longjmp(*escape_to, 1);
}

unsigned long mg_memory_failures(void)
{
	return failures;
}

void mg_memory_escape(jmp_buf *escape)
{
	escape_of = pthread_self();
	escape_to = escape;
}

void mg_memory_is_vital(void)
{
	is_vital = true;
}

static inline void *counted(void *memory)
{
	if (__builtin_expect(!memory, 0))
		mg_memory_failed();
	return memory;
}

/* The C library may return NULL for 0 bytes, which is no failure. */
static size_t some(size_t size)
{
	return size ? size : 1;
}

void *mg_malloc(size_t size)
{
	return counted(malloc(some(size)));
}

void *mg_calloc(size_t count, size_t size)
{
	return counted(calloc(some(count), some(size)));
}

void *mg_realloc(void *memory, size_t size)
{
	return counted(realloc(memory, some(size)));
}

void *mg_aligned_alloc(size_t alignment, size_t size)
{
	return counted(aligned_alloc(alignment, size));
}

char *mg_strdup(const char *text)
{
	return mg_strndup(text, strlen(text));
}

char *mg_strndup(const char *text, size_t most)
{
	size_t length = strnlen(text, most);
	char *copy = mg_malloc(length + 1);

	if (!copy)
		return NULL;
	memcpy(copy, text, length);
	copy[length] = 0;
	return copy;
}

void *mg_checked(void *result)
{
	if (!result && errno == ENOMEM)
		mg_memory_failed();
	return result;
}

FILE *mg_text_open(char **text, size_t *size)
{
	*text = NULL;
	*size = 0;
	return counted(open_memstream(text, size));
}

bool mg_text_close(FILE *to, char **text)
{
	bool whole = !ferror(to);

	if (fclose(to) == 0 && whole && *text)
		return true;
	free(*text);
	*text = NULL;
	mg_memory_failed();
	return false;
}
