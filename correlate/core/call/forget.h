/* SPDX-License-Identifier: MIT */
/* Threads, processes and sockets that are over, where nobody needs the past. */
#ifndef MAGNET_CORRELATE_CORE_CALL_FORGET_H
#define MAGNET_CORRELATE_CORE_CALL_FORGET_H

#include "core.h"

/* Frees a thread that is in no table any more. */
void thread_free(struct thread *t);
/*
 * Frees the threads and processes that ended some time ago, and the sockets that were idle the
 * longest, if core_forget_closed() asked for it. Call it between events.
 */
void core_forget(struct core *c, uint64_t now_ns);

#endif
