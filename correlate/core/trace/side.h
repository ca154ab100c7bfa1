/* SPDX-License-Identifier: MIT */
/* The time that each side of a recording covers, against the time of the recording. */
#ifndef MAGNET_CORRELATE_CORE_TRACE_SIDE_H
#define MAGNET_CORRELATE_CORE_TRACE_SIDE_H

#include "core.h"

/* Returns whether the program's calls are recorded, too. */
static inline bool has_app_side(const struct core *c)
{
	return c->side[CORE_APP].tells_end || c->counts.app_events;
}
void side_on_event(struct core *c, const struct mg_event *e);
/* Returns whether the side had recorded its end before `t`, cycles. */
bool side_is_over(struct core *c, enum core_side which, uint64_t t);
/* Call it at the end, when everything else is settled. */
void sides_finish(struct core *c);

#endif
