/* SPDX-License-Identifier: MIT */
/* The scheduler's own figures: switches, their duration, and waits for a CPU. */
#ifndef MAGNET_CORRELATE_CORE_TASK_SCHED_H
#define MAGNET_CORRELATE_CORE_TASK_SCHED_H

#include "core.h"

void sched_on_switch(struct sched_stats *s, const struct mg_event *e);
void sched_on_cost(struct sched_stats *s, const struct mg_event *e);
void sched_free(struct sched_stats *s);

#endif
