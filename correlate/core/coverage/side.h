/* SPDX-License-Identifier: MIT */
/* The time that each side of a recording covers, against the time of the recording. */
#ifndef MAGNET_CORRELATE_CORE_COVERAGE_SIDE_H
#define MAGNET_CORRELATE_CORE_COVERAGE_SIDE_H

#include "core.h"

/* Returns whether the program's calls are recorded, too. */
static inline bool has_app_side(const struct core *c)
{
	return c->side[CORE_APP].tells_end || c->counts.app_events;
}
/* Returns whether the side had recorded its end before `t`, cycles. */
bool side_is_over(struct core *c, enum core_side which, uint64_t t);
/* Returns whether the side began after `from`, or had ended before `to`, cycles. */
bool side_misses(struct core *c, enum core_side which, uint64_t from, uint64_t to);
/* Returns the end of the recording; without session.json, the later end of the two sides. */
uint64_t side_recording_end(const struct core *c);
/* Returns whether a side ended so long before the recording's end that it missed some of it. */
bool side_ends_before(const struct core *c, const struct core_span *s, uint64_t end);
/* Returns whether the kernel side has begun: what happens now is recorded by all its hooks. */
bool side_kernel_is_whole(const struct core *c);

#endif
