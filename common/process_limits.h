/* SPDX-License-Identifier: MIT */
/* Resource limits (ulimit), which apply to the program and not to magnet's recorders. */
#ifndef MAGNET_COMMON_PROCESS_LIMITS_H
#define MAGNET_COMMON_PROCESS_LIMITS_H

#include <stddef.h>
#include <sys/resource.h>

enum { MG_LIMIT_FILES, MG_LIMIT_FILE_SIZE, MG_LIMIT_SPACE, MG_LIMITS };

struct mg_limits {
	struct rlimit was[MG_LIMITS];
};

/* Raises the first `count` of the limits as far as this process may, and keeps what they were. */
void mg_limits_raise(struct mg_limits *l, int count);
/* Sets them back, for a program that is run. */
void mg_limits_restore(const struct mg_limits *l, int count);

/*
 * Returns what to do where a limit may be why something failed with this negative errno, such as
 * " (raise ulimit -n, which is 100)"; "" where none is.
 */
const char *mg_limit_hint(int err, char *out, size_t size);

#endif
