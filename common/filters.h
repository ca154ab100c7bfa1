/* SPDX-License-Identifier: MIT */
/* The number of filters of system calls (seccomp) that the process is under. */
#ifndef MAGNET_COMMON_FILTERS_H
#define MAGNET_COMMON_FILTERS_H

#include <fcntl.h>
#include <string.h>

#include "kernel_call.h"

/*
 * Returns the number, or 1 where the kernel tells only that there are some; -1 where it cannot be
 * read. Makes no system call that a program's loader does not make too.
 */
static inline int mg_filters(void)
{
	static const char number[] = "\nSeccomp_filters:\t", mode[] = "\nSeccomp:\t";
	char text[4096];
	const char *at;
	int n = 0;
	long fd = mg_kernel_call(
		SYS_openat, AT_FDCWD, (long)"/proc/self/status", O_RDONLY | O_CLOEXEC, 0, 0, 0);
	long len;

	if (fd < 0)
		return -1;
	len = mg_kernel_call(SYS_read, fd, (long)text, sizeof(text) - 1, 0, 0, 0);
	mg_kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
	if (len <= 0)
		return -1;
	text[len] = 0;
	at = strstr(text, number);
	if (at) {
		for (at += sizeof(number) - 1; *at >= '0' && *at <= '9'; at++)
			n = n * 10 + (*at - '0');
		return n;
	}
	at = strstr(text, mode);
	return !at ? -1 : at[sizeof(mode) - 1] != '0';
}

#endif
