/* SPDX-License-Identifier: MIT */
/* The state of each thread at every instant, into which a call's time divides. */
#ifndef MAGNET_CORRELATE_CORE_TASK_THREAD_H
#define MAGNET_CORRELATE_CORE_TASK_THREAD_H

#include "core.h"

/* Returns the thread of this number, NULL if it is not known. */
struct thread *thread_find(const struct core *c, uint32_t tid);
struct thread *thread_make(struct core *c, uint32_t tid, uint32_t pid);
static inline __attribute__((always_inline)) struct thread *thread_get(
	struct core *c, uint32_t tid, uint32_t pid)
{
	struct thread *t = c->recent.thread[tid % RECENT_THREADS];

	if (!t || t->tid != tid)
		return thread_make(c, tid, pid);
	if (pid)
		t->pid = pid;
	return t;
}
void thread_on_event(struct core *c, struct thread *t, const struct mg_event *e);
void thread_on_switch(struct core *c, const struct mg_event *e);
void thread_on_waking(struct core *c, const struct mg_event *e);
void thread_on_wakeup(struct core *c, const struct mg_event *e);
void thread_set_state(struct thread *t, uint64_t now);
enum call_state thread_state(const struct thread *t);
/* An event of its own shows that it is, though it was not seen to get the CPU. */
void thread_is_running(struct core *c, struct thread *t, uint64_t now);
/* Returns the name of the program that the thread's process runs, NULL if it is not known. */
const char *thread_program(const struct thread *t);
/* Emits the wait that a thread is in, of which no end will be seen. */
void thread_wait_lost(struct core *c, struct thread *t);
void thread_on_switch_cost(const struct core *c, const struct mg_event *e);
/* An application call has ended; those within it are no more of interest. */
void thread_note_inner(struct thread *t, uint64_t enter, uint64_t leave);
/* Adds the cycles of [from, to) that the thread spent in each state outside system calls. */
void thread_user_time(const struct thread *t, uint64_t from, uint64_t to, enum call_state running,
	uint64_t state[STATES]);

#endif
