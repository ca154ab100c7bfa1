/* SPDX-License-Identifier: MIT */
/* Reading trace directories through babeltrace2. Functions return 0 or a negative errno. */
#ifndef MAGNET_CORRELATE_BT_GRAPH_H
#define MAGNET_CORRELATE_BT_GRAPH_H

#include <stddef.h>
#include <stdint.h>

#include "core/contract.h"
#include "progress.h"
#include "read/traces.h"

/*
 * Returns the offset of the trace's clock to the wall clock in ns; -ENODATA if the trace has no
 * stream.
 */
int mg_trace_clock_offset(const char *path, int64_t *offset_ns);

/*
 * Feeds all traces, merged by time, to the core. `progress` may be NULL. On failure `why` gets the
 * reason in words.
 */
int mg_read_traces(const struct mg_traces *t, struct core *core, const struct progress *progress,
	char *why, size_t why_size);

#endif
