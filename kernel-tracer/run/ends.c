/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "run/ends.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

bool ends_watch(struct ends *e, const struct option_processes *p)
{
	uint32_t gone = 0;

	for (uint32_t i = 0; i < p->count; i++) {
		int fd = (int)syscall(SYS_pidfd_open, p->pid[i], 0);

		if (fd >= 0)
			e->pidfd[e->count++] = fd;
		else if (errno == ESRCH)
			gone++;
	}
	return gone < p->count;
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
