/* SPDX-License-Identifier: MIT */
/* The perf events that report mappings, forks and execs of every process: one ring a CPU. */
#ifndef MAGNET_KERNEL_TRACER_STACKS_MAPPING_RINGS_H
#define MAGNET_KERNEL_TRACER_STACKS_MAPPING_RINGS_H

#include <linux/perf_event.h>

struct mapping_rings;
/* Returns 0 or a negative errno; mapping_rings_free() is to be called in any case. */
int mapping_rings_open(struct mapping_rings **out);
/* Calls `take` for each record, which is valid during the call. `r` may be NULL. */
void mapping_rings_pass(struct mapping_rings *r,
	void (*take)(void *arg, const struct perf_event_header *record), void *arg);
void mapping_rings_free(struct mapping_rings *r);

#endif
