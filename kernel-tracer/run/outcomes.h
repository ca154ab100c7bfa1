/* SPDX-License-Identifier: MIT */
/* Outcomes of hooks, kept for the status and written to the trace. */
#ifndef MAGNET_KERNEL_TRACER_RUN_OUTCOMES_H
#define MAGNET_KERNEL_TRACER_RUN_OUTCOMES_H

#include "run/run.h"

/* An outcome of attaching, new or changed: to the trace, and to whoever asks. `arg` is the run. */
void run_on_hook(void *arg, const struct hook_status *status);
/* An outcome as an event. */
struct mg_hook run_hook_event(const struct hook_status *status);
/* Attach and detach so that these layers are recorded. */
int run_set_layers(struct run *r, uint32_t layers);

#endif
