/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints chosen with --event. perf records them into a ring per CPU, and the tracer's loop
 * writes them into streams of their own. Functions return 0 or a negative errno; a NULL `c` stands
 * for no chosen events, and the functions then do nothing.
 */
#ifndef MAGNET_KERNEL_TRACER_EVENTS_CHOSEN_H
#define MAGNET_KERNEL_TRACER_EVENTS_CHOSEN_H

#include "ctf.h"
#include "events/chosen_find.h"
#include "hooks/hooks.h"

struct chosen;
/*
 * Parses and opens the chosen events; call it first. Returns -EINVAL on wrong usage. `out` is NULL
 * without --event.
 */
int chosen_open(struct chosen **out, const struct chosen_options *o, char *why, size_t size);
/* Writes the events' metadata into the trace, reports their hooks and starts recording. */
int chosen_start(struct chosen *c, struct ctf_writer *w, hook_report_fn report, void *report_arg);
int chosen_pass(struct chosen *c);
/* Stops recording until chosen_resume(). */
int chosen_pause(struct chosen *c);
int chosen_resume(struct chosen *c);
int chosen_finish(struct chosen *c);
uint64_t chosen_lost(const struct chosen *c);
void chosen_free(struct chosen *c);

#endif
