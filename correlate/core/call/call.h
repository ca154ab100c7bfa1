/* SPDX-License-Identifier: MIT */
/* System calls, from entry to exit. */
#ifndef MAGNET_CORRELATE_CORE_CALL_CALL_H
#define MAGNET_CORRELATE_CORE_CALL_CALL_H

#include "core.h"

void call_on_enter(struct core *c, struct thread *t, const struct mg_event *e);
void call_on_exit(struct core *c, struct thread *t, const struct mg_event *e);
/* Returns whether the kernel left the call for a signal handler, to enter it again. */
bool call_was_restarted(const struct kernel_call *k);
/* Gives up the present call of a thread, whose end will not be known. */
void call_abandon(struct core *c, struct thread *t);
/*
 * Call it when the socket of a thread's present call gets another number. Nothing else has changed.
 */
void call_moves_to(struct core *c, struct thread *t, uint64_t cookie);
void call_no_longer_open(struct core *c, const struct kernel_call *k);

#endif
