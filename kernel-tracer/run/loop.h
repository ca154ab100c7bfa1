/* SPDX-License-Identifier: MIT */
/* The main loop of a recording. */
#ifndef MAGNET_KERNEL_TRACER_RUN_LOOP_H
#define MAGNET_KERNEL_TRACER_RUN_LOOP_H

#include "run/run.h"

/* Until something says stop. Returns 0 or a negative errno. */
int run_loop(struct run *r);
/* Everything that was recorded reaches the trace, then one last clock reading and the end mark. */
int run_finish(struct run *r);
/* The comparison of the CPUs' counters is over. */
void run_end_clock_cpus(struct run *r);
uint64_t run_lost(const struct run *r);

#endif
