/* SPDX-License-Identifier: MIT */
/*
 * Bounds of what babeltrace2 may take to read a recording. It believes what the metadata says: some
 * lines of it can ask for any amount of memory, and of time.
 */
#ifndef MAGNET_CORRELATE_BT_BOUNDS_H
#define MAGNET_CORRELATE_BT_BOUNDS_H

#include <stdint.h>

#include "read/traces.h"

/*
 * From now on a line on stderr and exit status 1 end the process where it takes more than 256 MiB
 * and 16 times their streams' size, or works for more than a minute of CPU time, and 100 ns for
 * each byte of them, while `messages` stays as it is.
 */
void bounds_begin(const struct mg_traces *t, const uint64_t *messages);
void bounds_end(void);

#endif
