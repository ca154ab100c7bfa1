/* SPDX-License-Identifier: MIT */
/* Finds switches that two tracers recorded. */
#ifndef MAGNET_CORRELATE_CORE_TASK_REPEATED_H
#define MAGNET_CORRELATE_CORE_TASK_REPEATED_H

#include "core.h"

/*
 * Returns whether the event is of the same switch as the one before it on this CPU. Only that of
 * the thread that leaves says in what it is blocked.
 */
bool switch_is_repeated(struct core *c, const struct mg_event *e);

#endif
