/* SPDX-License-Identifier: MIT */
/* Offsets between the cycle counters of the CPUs (method, "Clock"). */
#ifndef MAGNET_KERNEL_TRACER_CLOCK_CPUS_H
#define MAGNET_KERNEL_TRACER_CLOCK_CPUS_H

#include <stddef.h>

#include "events.h"

struct clock_cpus;

/*
 * Starts to measure each CPU against the first, in the background, for at most 50 ms. Returns 0 or
 * a negative errno.
 */
int clock_cpus_start(struct clock_cpus **out);
/*
 * Waits for the end of the measurement, passes each measured CPU to `tell`, and frees `c`. Ignores
 * NULL.
 */
void clock_cpus_end(
	struct clock_cpus *c, void (*tell)(void *arg, const struct mg_clock_cpus *one), void *arg);

#endif
