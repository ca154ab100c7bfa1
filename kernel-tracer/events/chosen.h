/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints chosen with --event: recorded by perf, in a ring a CPU of their own, which the
 * tracer's loop empties into streams of their own. Functions return 0 or a negative errno; NULL
 * stands for no events, and does nothing.
 */
#ifndef MAGNET_KERNEL_TRACER_EVENTS_CHOSEN_H
#define MAGNET_KERNEL_TRACER_EVENTS_CHOSEN_H

#include "ctf.h"
#include "events/chosen_find.h"
#include "hooks/hooks.h"

struct chosen;
/* Before anything else: -EINVAL is wrong usage. `out` is NULL without --event. */
int chosen_open(struct chosen **out, const struct chosen_options *o, char *why, size_t size);
/* Describe the events to the trace, tell their hooks, and begin. */
int chosen_start(struct chosen *c, struct ctf_writer *w, hook_report_fn report, void *report_arg);
int chosen_pass(struct chosen *c);
/* Record nothing, until it is resumed. */
int chosen_pause(struct chosen *c);
int chosen_resume(struct chosen *c);
int chosen_finish(struct chosen *c);
uint64_t chosen_lost(const struct chosen *c);
void chosen_free(struct chosen *c);

#endif
