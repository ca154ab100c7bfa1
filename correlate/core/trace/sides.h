/* SPDX-License-Identifier: MIT */
/* From when until when each side of a recording was recorded. */
#ifndef MAGNET_CORRELATE_CORE_TRACE_SIDES_H
#define MAGNET_CORRELATE_CORE_TRACE_SIDES_H

#include "core.h"

void side_on_event(struct core *c, const struct mg_event *e);
/* Call it at the end, when everything else is settled. */
void sides_finish(struct core *c);

#endif
