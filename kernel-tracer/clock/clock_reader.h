/* SPDX-License-Identifier: MIT */
/*
 * Readings of the cycle counter against CLOCK_MONOTONIC, taken by a thread of their own so that
 * they go on while the tracer waits for a slow disk or has much to drain.
 */
#ifndef MAGNET_KERNEL_TRACER_CLOCK_READER_H
#define MAGNET_KERNEL_TRACER_CLOCK_READER_H

#include <stdbool.h>

#include "events.h"

struct clock_reader;

/* Starts the thread; the first reading is taken at once. Returns 0 or a negative errno. */
int clock_reader_start(struct clock_reader **out);
/* Takes one last reading and stops. */
void clock_reader_stop(struct clock_reader *r);
/* Returns the oldest reading not taken yet in `one`; false if there is none. */
bool clock_reader_take(struct clock_reader *r, struct mg_clock_sync *one);
/* Frees the reader. Ignores NULL. */
void clock_reader_free(struct clock_reader *r);

#endif
