/* SPDX-License-Identifier: MIT */
/* Names what a thread blocks in: the system call, its descriptor, its socket and that one's peer.
 */
#ifndef MAGNET_CORRELATE_CORE_TASK_BLOCKED_H
#define MAGNET_CORRELATE_CORE_TASK_BLOCKED_H

#include "core.h"

/* Keeps what a switch says of the thread that leaves the CPU. */
void blocked_note(struct thread *t, const struct mg_sched_switch *p);
/* Fills in the columns of a block: its wait is over, or its end will not be seen. */
void blocked_tell(struct core *c, const struct thread *t, struct fact_wait *f);
void blocked_free(struct core *c);
/*
 * Returns whether the thread waited for any of its sockets, and that of a client of its program was
 * the first.
 */
bool blocked_for_client(struct core *c, const struct fact_wait *f);

#endif
