/* SPDX-License-Identifier: MIT */
/*
 * Checks that both readers rely on: whether the traces of a recording can be read, and together.
 * Only regular files inside the trace are accepted, within limits, and each only once.
 */
#ifndef MAGNET_CORRELATE_READ_INSPECT_H
#define MAGNET_CORRELATE_READ_INSPECT_H

#include <stddef.h>

#include "core/contract.h"
#include "traces.h"

/*
 * Checks all traces before they are read, and tells the core which of magnet's traces end with
 * their number of events and which have no metadata. Returns 0, -EMFILE, or another negative errno
 * with the reason in `why`.
 */
int traces_inspect(const struct mg_traces *t, struct core *core, char *why, size_t why_size);

#endif
