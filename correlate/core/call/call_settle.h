/* SPDX-License-Identifier: MIT */
/*
 * Settling of system calls that have ended: the bytes they moved, and those without an application
 * event.
 */
#ifndef MAGNET_CORRELATE_CORE_CALL_CALL_SETTLE_H
#define MAGNET_CORRELATE_CORE_CALL_CALL_SETTLE_H

#include "core.h"

/* Returns the bytes that a call reports to have moved. */
uint64_t call_moved_bytes(const struct kernel_call *k);
void call_settle_bytes(struct core *c, struct kernel_call *k, uint64_t enter, uint64_t leave);
/* Settles a system call that no application event claimed, and frees it. */
void call_settle(struct core *c, struct thread *t, struct kernel_call *k);
/* Settles all calls of the thread that no application event has claimed. */
void call_settle_thread(struct core *c, struct thread *t);
void call_settle_oldest(struct core *c, struct thread *t, uint32_t n);
void call_on_thread_end(struct core *c, struct thread *t);
/* The same, where application events of its calls may still come. */
void call_on_thread_exit(struct core *c, struct thread *t);
/* Settles all that have waited too long; `now` in ns. */
void call_settle_old(struct core *c, uint64_t now);

#endif
