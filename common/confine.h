/* SPDX-License-Identifier: MIT */
/*
 * Giving up descriptors, capabilities and system calls once a recorder has what it needs, so that
 * an attacker who takes it over gains little.
 */
#ifndef MAGNET_COMMON_CONFINE_H
#define MAGNET_COMMON_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

/* Closes all descriptors from 3 on but these two; -1 names none. */
void mg_close_others(int keep, int also);

#define MG_CAPABILITY(number) (1ull << (number))
/* Gives up all capabilities but those in `keep`. Returns 0 or a negative errno. */
int mg_keep_capabilities(uint64_t keep);

/*
 * Allows all threads only the system calls that any recorder makes and those in `more`, whose last
 * is NULL, and forbids gaining privileges by running a program. Other calls fail with ENOSYS, as on
 * a kernel that lacks them: C libraries then do without. Returns 0 or a negative errno.
 */
int mg_keep_calls(const char *const more[]);

#endif
