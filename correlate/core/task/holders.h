/* SPDX-License-Identifier: MIT */
/*
 * Threads that hold ended system calls, in the order in which all threads were met. A busy machine
 * has thousands of threads of which a few make calls: whoever looks after these does not look at
 * the others.
 */
#ifndef MAGNET_CORRELATE_CORE_TASK_HOLDERS_H
#define MAGNET_CORRELATE_CORE_TASK_HOLDERS_H

#include "core.h"

/* Numbers a new thread. Returns false if memory is short. */
bool holders_add(struct core *c, struct thread *t);
/* Notes whether a thread holds calls. */
static inline void holders_set(struct core *c, const struct thread *t, bool holds)
{
	uint64_t bit = 1ull << t->number % 64, *word = &c->tasks.holders.bits[t->number / 64];

	*word = holds ? *word | bit : *word & ~bit;
}
/* Returns the first thread from this number on that holds calls; NULL if there is none. */
struct thread *holders_from(const struct core *c, uint32_t number);
/* Numbers the threads anew. Call it when some have been freed. */
void holders_renumber(struct core *c);
void holders_free(struct core *c);

#endif
