/* SPDX-License-Identifier: MIT */
/* Reading the cycle counter against CLOCK_MONOTONIC, and what the counter can be trusted for. */
#ifndef MAGNET_COMMON_CLOCK_H
#define MAGNET_COMMON_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "events.h"

uint64_t mg_monotonic_ns(void);

/*
 * Takes one clock reading: the narrowest of `tries` triples (counter, CLOCK_MONOTONIC, counter)
 * (Cristian 1989). The time lies within `half_width` cycles of `cycles`.
 */
void mg_clock_sync_read(struct mg_clock_sync *out, unsigned int tries);

/* Returns the counter frequency in Hz, measured over `ms` milliseconds. */
uint64_t mg_counter_hz(unsigned int ms);
/* Returns the frequency since a reading; waits until that was at least `ms` milliseconds ago. */
uint64_t mg_counter_hz_since(const struct mg_clock_sync *reading, unsigned int ms);

/*
 * Returns whether the counter ticks at one rate on all CPUs and never stops: invariant-TSC CPUID
 * bit and the kernel's own verdict, its clocksource. `why`, if given, gets a static reason if not.
 */
bool mg_counter_invariant(const char **why);

#endif
