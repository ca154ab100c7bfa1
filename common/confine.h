/* SPDX-License-Identifier: MIT */
/*
 * What a recorder gives up once it has all it needs, so that whoever takes it over gains little:
 * others' descriptors, capabilities, and system calls.
 */
#ifndef MAGNET_COMMON_CONFINE_H
#define MAGNET_COMMON_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

/* Closes all descriptors from 3 on but these two; -1 names none. */
void mg_close_others(int keep, int also);

#define MG_CAPABILITY(number) (1ull << (number))
/* Keeps, of the capabilities the process has, those in `keep`. Returns 0 or a negative errno. */
int mg_keep_capabilities(uint64_t keep);

/*
 * From now on no program that is run gains a privilege, and of the system calls all threads have
 * those that any recorder takes, and those in `more`, whose last is NULL. Others fail with ENOSYS,
 * as on a kernel that lacks them: C libraries then do without. Returns 0 or a negative errno.
 */
int mg_keep_calls(const char *const more[]);

#endif
