/* SPDX-License-Identifier: MIT */
/* When a process was started, which tells it from a later one with its number. */
#ifndef MAGNET_COMMON_PROCESS_START_H
#define MAGNET_COMMON_PROCESS_START_H

#include <fcntl.h>
#include <stdint.h>
#include <string.h>

#include "kernel_call.h"

/* Position of the start in /proc/PID/stat, counted from the field behind the program's name. */
#define MG_STAT_START 19

/* Parses the text of /proc/PID/stat. Returns 0 if it is none. */
static inline uint64_t mg_start_of_stat(const char *stat)
{
	const char *at = strrchr(stat, ')'); /* a program's name may hold anything */
	uint64_t start = 0;

	for (int field = 0; at && field <= MG_STAT_START; field++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	while (at && *at >= '0' && *at <= '9')
		start = start * 10 + (uint64_t)(*at++ - '0');
	return start;
}

/*
 * Returns the start of the process whose /proc/PID/stat this is, in the kernel's ticks since boot;
 * 0 if it cannot be read. Makes no system call that a program's loader does not make too.
 */
static inline uint64_t mg_process_start(const char *proc_pid_stat)
{
	char text[1024];
	long len, fd = mg_kernel_call(
			  SYS_openat, AT_FDCWD, (long)proc_pid_stat, O_RDONLY | O_CLOEXEC, 0, 0, 0);

	if (fd < 0)
		return 0;
	len = mg_kernel_call(SYS_read, fd, (long)text, sizeof(text) - 1, 0, 0, 0);
	mg_kernel_call(SYS_close, fd, 0, 0, 0, 0, 0);
	if (len <= 0)
		return 0;
	text[len] = 0;
	return mg_start_of_stat(text);
}

#endif
