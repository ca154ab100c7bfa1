/* SPDX-License-Identifier: MIT */
/* The program that each process runs, and the programs that bypassed libmagnet.so. */
#ifndef MAGNET_CORRELATE_CORE_TASK_PROCESS_H
#define MAGNET_CORRELATE_CORE_TASK_PROCESS_H

#include "core.h"

/* Returns the thread's process; NULL if memory is short. */
struct process *process_of(struct core *c, struct thread *t);
/* Call it when a thread was created, or is announced as existing. */
void process_on_fork(struct core *c, struct thread *t, const struct mg_event *e);
/* Sets the program that the process runs now. */
void process_named(struct core *c, struct process *p, const char comm[16]);
/* Call it when the thread's name is known. */
void process_known(struct core *c, struct thread *t);
/* Call it before the process executes another program, and when the recording ends. */
void process_ends(struct core *c, struct process *p);
/* Ends the process once application events of it cannot come any more. */
void process_on_exit(struct core *c, struct process *p, uint64_t now_ns);
void processes_settle(struct core *c, uint64_t before_ns);
void processes_end(struct core *c);
/* Frees a process that is in no table any more. */
void process_free(struct process *p);
void processes_free(struct core *c);

#endif
