/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_BT_SANE_H
#define MAGNET_CORRELATE_BT_SANE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns whether babeltrace2 can read the trace in this directory; else `why` gets the damaged
 * file. babeltrace2 trusts sizes in LTTng's metadata and indexes: on truncated metadata it loops
 * for ever, and an index that points past the end ends the process.
 */
bool trace_is_sane(const char *dir, char *why, size_t why_size);

#endif
