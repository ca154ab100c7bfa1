/* SPDX-License-Identifier: MIT */
/*
 * Limits of memory and time for reading with babeltrace2, which believes the metadata: a few
 * damaged lines can ask for any amount of either.
 */
#ifndef MAGNET_CORRELATE_BT_BOUNDS_H
#define MAGNET_CORRELATE_BT_BOUNDS_H

#include <stdint.h>

#include "read/traces.h"

/*
 * Starts watching. The process ends with a line on stderr and exit status 1 if it takes more than
 * 256 MiB plus 16 times the size of the streams, or if `messages` stays the same during more than
 * one minute of CPU time plus 100 ns per byte of the streams.
 */
void bounds_begin(const struct mg_traces *t, const uint64_t *messages);
void bounds_end(void);

#endif
