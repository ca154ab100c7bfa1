/* SPDX-License-Identifier: MIT */
/*
 * The least that a preloaded library can do: wrappers that only call the next definition; with
 * STAMPED they also read the counter before and after.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef STAMPED
#include "cycles.h"
static __thread volatile uint64_t enter, leave;
#define STAMP(at) at = mg_cycles_after()
#else
#define STAMP(at) (void)0
#endif

static ssize_t (*next_write)(int, const void *, size_t);
static ssize_t (*next_send)(int, const void *, size_t, int);

ssize_t write(int fd, const void *buf, size_t len)
{
	ssize_t ret;

	if (!next_write)
		next_write = dlsym(RTLD_NEXT, "write");
	STAMP(enter);
	ret = next_write(fd, buf, len);
	STAMP(leave);
	return ret;
}

ssize_t send(int fd, const void *buf, size_t len, int flags)
{
	ssize_t ret;

	if (!next_send)
		next_send = dlsym(RTLD_NEXT, "send");
	STAMP(enter);
	ret = next_send(fd, buf, len, flags);
	STAMP(leave);
	return ret;
}
