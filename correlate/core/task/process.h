/* SPDX-License-Identifier: MIT */
/* Which program each process runs, and which programs went past libmagnet.so. */
#ifndef MAGNET_CORRELATE_CORE_TASK_PROCESS_H
#define MAGNET_CORRELATE_CORE_TASK_PROCESS_H

#include "core.h"

/* The thread's process; NULL without memory. */
struct process *process_of(struct core *c, struct thread *t);
/* The thread was made, or was there already, as the event says. */
void process_on_fork(struct core *c, struct thread *t, const struct mg_event *e);
/* It runs another program now. */
void process_named(struct core *c, struct process *p, const char comm[16]);
/* The thread is known to be called so. */
void process_known(struct core *c, struct thread *t);
/* It is about to be another program, or the recording ends. */
void process_ends(struct core *c, struct process *p);
/* The same once application events of it cannot come any more. */
void process_on_exit(struct core *c, struct process *p, uint64_t now_ns);
void processes_settle(struct core *c, uint64_t before_ns);
void processes_end(struct core *c);
void processes_free(struct core *c);

#endif
