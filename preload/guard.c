/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "guard.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fdkind.h"
#include "raw.h"

static uint8_t adopted[FD_TABLE];
static bool guarding; /* set once a descriptor has been adopted */

bool guard_is_lttng(const void *caller)
{
	struct dl_find_object found;
	const char *base;

	if (_dl_find_object((void *)caller, &found) != 0 || !found.dlfo_link_map)
		return 0;
	base = strrchr(found.dlfo_link_map->l_name, '/');
	return base && strncmp(base + 1, "liblttng-ust", 12) == 0;
}

/*
 * Returns the lowest number to give LTTng's descriptors; it stays below FD_SETSIZE so that the
 * kernel need not grow the descriptor table.
 */
static int lowest_number(void)
{
	struct rlimit limit = {1024, 1024};

	getrlimit(RLIMIT_NOFILE, &limit);
	return (int)(limit.rlim_cur < 1024 ? limit.rlim_cur : 1024) * 3 / 4;
}

/* Makes raw system calls: our own wrappers would take them for the program's. */
int guard_adopt(int fd)
{
	int saved = errno, high;

	if (fd < 0)
		return fd;
	high = (int)mg_system_call(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest_number());
	if (high >= 0) { /* on failure the descriptor keeps its number */
		mg_system_call(SYS_close, fd, 0, 0);
		fd_set_kind(fd, MG_KIND_unknown);
		fd = high;
	}
	fd_set_kind(fd, MG_KIND_other);
	if ((unsigned int)fd < FD_TABLE) {
		__atomic_store_n(&adopted[fd], 1, __ATOMIC_RELAXED);
		guarding = true;
	}
	errno = saved;
	return fd;
}

int guard_close(int fd, const void *caller)
{
	if (!guard_has(fd))
		return fd;
	if (!guard_is_lttng(caller))
		return -1;
	__atomic_store_n(&adopted[fd], 0, __ATOMIC_RELAXED);
	return fd;
}

int guard_close_range(unsigned int first, unsigned int last, int flags)
{
	unsigned int from = first;

	for (unsigned int fd = first; fd <= last && fd < FD_TABLE; fd++) {
		if (!__atomic_load_n(&adopted[fd], __ATOMIC_RELAXED))
			continue;
		if (fd > from && mg_system_call(SYS_close_range, from, fd - 1, flags) != 0)
			return -1;
		from = fd + 1;
	}
	if (from > last && from > first) /* the last one closed was a guarded one */
		return 0;
	return (int)mg_system_call(SYS_close_range, from, last, flags);
}

bool guard_has(int fd)
{
	return (unsigned int)fd < FD_TABLE && __atomic_load_n(&adopted[fd], __ATOMIC_RELAXED);
}

bool guard_needed(void)
{
	return guarding;
}

void guard_forget(int fd)
{
	if (guarding && (unsigned int)fd < FD_TABLE && !mg_in_vfork())
		__atomic_store_n(&adopted[fd], 0, __ATOMIC_RELAXED);
}
