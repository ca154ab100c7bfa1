/* SPDX-License-Identifier: MIT */
/*
 * What both readers rest on: whether the traces of a recording may be read at all, and together.
 * Only regular files are, that lie in the trace itself, within limits, and each of them once.
 */
#ifndef MAGNET_CORRELATE_READ_INSPECT_H
#define MAGNET_CORRELATE_READ_INSPECT_H

#include <stddef.h>

#include "core.h"
#include "traces.h"

/*
 * Looks at all of them before they are read, and tells the core which of magnet's own will tell how
 * much there is in them, and what has no description. Returns 0; -EMFILE; or another negative
 * errno, and `why` gets what is wrong.
 */
int traces_inspect(const struct mg_traces *t, struct core *core, char *why, size_t why_size);

#endif
