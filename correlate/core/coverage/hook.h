/* SPDX-License-Identifier: MIT */
/* The events that the recording can have, from the hooks it lists. */
#ifndef MAGNET_CORRELATE_CORE_COVERAGE_HOOK_H
#define MAGNET_CORRELATE_CORE_COVERAGE_HOOK_H

#include "core.h"

/* Returns whether the exits of calls are recorded from here on, and were not before. */
bool hook_on_event(struct core *c, const struct mg_hook *p, uint64_t time_ns);
/* Tells of layers that are still switched off at the kernel side's end. */
void hook_finish(struct core *c, uint64_t end_ns);
/* Notes an event's hook as attached, for a trace whose start was cut away and with it the hooks. */
void hook_seen(struct core *c, enum mg_event_id id);

#endif
