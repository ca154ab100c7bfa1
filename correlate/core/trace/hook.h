/* SPDX-License-Identifier: MIT */
/* Which events the recording can have, by the hooks it says were attached. */
#ifndef MAGNET_CORRELATE_CORE_TRACE_HOOK_H
#define MAGNET_CORRELATE_CORE_TRACE_HOOK_H

#include "core.h"

void hook_on_event(struct core *c, const struct mg_hook *p);
/* A trace whose begin was cut away does not tell what was attached: what comes does. */
void hook_seen(struct core *c, enum mg_event_id id);

#endif
