/* SPDX-License-Identifier: MIT */
/*
 * Calls with which a program restricts itself to fewer system calls or less memory. The library
 * takes what it needs beforehand, and gives up what the program needs.
 */
#ifndef MAGNET_PRELOAD_ROOM_H
#define MAGNET_PRELOAD_ROOM_H

#include <stdint.h>
#include <sys/resource.h>

/*
 * Call them before and after prctl(). Once a system call filter is set, the library makes no call
 * that the filter may forbid; once reading the cycle counter is forbidden, which strict seccomp
 * does too, the library does not read it.
 */
void mg_before_prctl(int option, unsigned long argument);
void mg_after_prctl(int option, unsigned long argument, int ret);

/* Call them before a limit is set, and before memory is locked. */
void mg_before_limit(int resource, const struct rlimit *limit);
void mg_before_lock(int flags);
/*
 * Returns how many bytes of address space the library may use under `limit`; never less than
 * `least`.
 */
uint64_t mg_room_under(rlim_t limit, uint64_t least);

#endif
