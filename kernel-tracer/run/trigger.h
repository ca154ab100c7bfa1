/* SPDX-License-Identifier: MIT */
/*
 * Triggers of the flight recorder, found in the events. Rings are read one after the other, so a
 * copy may be seen before the arrival of its bytes on another CPU.
 */
#ifndef MAGNET_KERNEL_TRACER_RUN_TRIGGER_H
#define MAGNET_KERNEL_TRACER_RUN_TRIGGER_H

#include "event_set.h"
#include "run/run.h"

struct triggers;
struct triggers *triggers_new(struct run *r);
/* An event as it is read, one of triggers_events(). */
void triggers_see(void *triggers, const struct mg_slot *s);
struct mg_events triggers_events(const struct tracer_options *o);
void triggers_free(struct triggers *t);

#endif
