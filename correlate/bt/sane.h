/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_BT_SANE_H
#define MAGNET_CORRELATE_BT_SANE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether babeltrace2 can be given the trace in this directory. It reads sizes in LTTng's metadata
 * and indexes without a look at the files' own: with metadata that was cut off it never comes back,
 * and an index that points past the end ends the process. `why` gets which file is damaged.
 */
bool trace_is_sane(const char *dir, char *why, size_t why_size);

#endif
