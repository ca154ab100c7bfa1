/* SPDX-License-Identifier: MIT */
/*
 * Reading traces that magnet-kernel-tracer and magnet's own collector wrote without babeltrace2, in
 * a fifth of its time, and in precisely the order in which it merges them.
 */
#ifndef MAGNET_CORRELATE_DIRECT_DIRECT_H
#define MAGNET_CORRELATE_DIRECT_DIRECT_H

#include <stddef.h>
#include <stdint.h>

#include "core.h"
#include "progress.h"

#define DIRECT_NOT_OURS 1

/*
 * Feed the traces in these directories, merged in order of time, to the core. Returns 0; or
 * DIRECT_NOT_OURS, then the core was given nothing and babeltrace2 may know better; or a negative
 * errno for damage that was met on the way; -EMFILE where no more files may be opened: then no
 * figure is to be made of what was read. `why` gets the reason in words. `progress` may be NULL.
 */
int direct_read(const char *const dirs[], size_t count, struct core *core,
	const struct progress *progress, char *why, size_t why_size);

/*
 * The same for one trace in memory. Any bytes may be given (so for fuzzing): what they are is found
 * out. Streams are taken in the order of their names in the trace.
 */
struct direct_bytes {
	const uint8_t *data;
	size_t size;
};
int direct_read_memory(const struct direct_bytes *metadata, const struct direct_bytes *stream,
	size_t streams, struct core *core, char *why, size_t why_size);

#endif
