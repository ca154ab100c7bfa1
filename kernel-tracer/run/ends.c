/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "run/ends.h"

#include <sys/syscall.h>
#include <unistd.h>

bool ends_watch(struct ends *e, const struct option_processes *p)
{
	for (uint32_t i = 0; i < p->count; i++) {
		int fd = (int)syscall(SYS_pidfd_open, p->pid[i], 0);

		if (fd >= 0)
			e->pidfd[e->count++] = fd;
	}
	return e->count;
}

int ends_fd(const struct ends *e)
{
	return e->gone < e->count ? e->pidfd[e->gone] : -1;
}

bool ends_next(struct ends *e)
{
	close(e->pidfd[e->gone++]);
	return e->gone == e->count;
}
