/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_CORE_CALL_CALL_JOIN_H
#define MAGNET_CORRELATE_CORE_CALL_CALL_JOIN_H

#include "core.h"

void call_on_app(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
/* Merges calls that were left for a handler and entered again. */
void call_merge_restarts(struct core *c, struct thread *t);
/*
 * Returns whether no event is missing of what the thread did in the call, or in the application
 * call around it.
 */
bool call_is_complete(const struct core *c, const struct thread *t, const struct kernel_call *k,
	uint64_t enter, uint64_t leave);

#endif
