/* SPDX-License-Identifier: MIT */
/* How far the cycle counters of the CPUs are apart (method, "Clock"). */
#ifndef MAGNET_KERNEL_TRACER_CLOCK_CPUS_H
#define MAGNET_KERNEL_TRACER_CLOCK_CPUS_H

#include <stddef.h>

#include "events.h"

struct clock_cpus;

/*
 * Measure each CPU against the first, beside what the caller goes on to do, in 50 ms at most.
 * Returns 0 or a negative errno.
 */
int clock_cpus_start(struct clock_cpus **out);
/* Wait for it, and free it: hands every CPU that could be measured to `tell`. NULL is ignored. */
void clock_cpus_end(
	struct clock_cpus *c, void (*tell)(void *arg, const struct mg_clock_cpus *one), void *arg);

#endif
