/* SPDX-License-Identifier: MIT */
/* Which events call for a dump of the flight recorder. */
#ifndef MAGNET_KERNEL_TRACER_RUN_TRIGGER_H
#define MAGNET_KERNEL_TRACER_RUN_TRIGGER_H

#include "run/run.h"

struct triggers;
struct triggers *triggers_new(struct run *r);
/* An event as it is read; of those the mask names only. */
void triggers_see(void *triggers, const struct mg_slot *s);
uint64_t triggers_mask(const struct tracer_options *o);
void triggers_free(struct triggers *t);

#endif
