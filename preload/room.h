/* SPDX-License-Identifier: MIT */
/*
 * What a program does to have less, of system calls or of memory: we must have what we need before,
 * and must not take what it needs.
 */
#ifndef MAGNET_PRELOAD_ROOM_H
#define MAGNET_PRELOAD_ROOM_H

#include <stdint.h>
#include <sys/resource.h>

/*
 * To be called before and after prctl(): where it sets a filter of system calls, we make none
 * afterwards that may not be allowed; where it forbids to read the cycle counter, which strict
 * seccomp does too, we do not read it.
 */
void mg_before_prctl(int option, unsigned long argument);
void mg_after_prctl(int option, unsigned long argument, int ret);

/* A limit is about to be set, or memory to be locked. */
void mg_before_limit(int resource, const struct rlimit *limit);
void mg_before_lock(int flags);
/* How much address space we may have under a limit, in bytes; at least `least`. */
uint64_t mg_room_under(rlim_t limit, uint64_t least);

#endif
