/* SPDX-License-Identifier: MIT */
/*
 * The latest waits of all threads, each of which names the thread that ended it: what led to a
 * reply is found by going back along them.
 * Waits are numbered from 1 in the order of their ends.
 */
#ifndef MAGNET_CORRELATE_CORE_TASK_PAST_H
#define MAGNET_CORRELATE_CORE_TASK_PAST_H

#include "core.h"

/* Whether anybody wants them. */
static inline bool past_wanted(const struct core *c)
{
	return facts_wanted(&c->facts, FACT_in_program) ||
	       facts_wanted(&c->facts, FACT_before_read) ||
	       facts_wanted(&c->facts, FACT_during_reply);
}
/* Keeps a wait that has ended. */
void past_keep(struct core *c, struct thread *t, const struct fact_wait *f);
/* Notes that it was not seen what the thread did meanwhile. */
void past_missed(struct core *c, struct thread *t, uint64_t from, uint64_t to);
/* Notes that one traced thread has made another one. */
void past_born(struct core *c, struct thread *child, uint32_t parent, uint64_t now);
/* Returns a wait by its number; NULL if there is none, or it is forgotten. */
const struct past_wait *past_wait(const struct core *c, uint64_t number);
/* Returns the number of the first wait that ended at that time or later. */
uint64_t past_first(const struct core *c, uint64_t from);
void past_free(struct core *c);

#endif
