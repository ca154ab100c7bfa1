/* SPDX-License-Identifier: MIT */
/*
 * Reads traces written by magnet-kernel-tracer and magnet's collector without babeltrace2, in a
 * fifth of its time and in exactly its order.
 */
#ifndef MAGNET_CORRELATE_DIRECT_DIRECT_H
#define MAGNET_CORRELATE_DIRECT_DIRECT_H

#include <stddef.h>
#include <stdint.h>

#include "core/contract.h"
#include "progress.h"

#define DIRECT_NOT_OURS 1

/*
 * Feeds the traces in these directories, merged by time, to the core. Returns 0; DIRECT_NOT_OURS if
 * babeltrace2 should try instead, in which case the core got nothing; or a negative errno for
 * damage met on the way. With -EMFILE no more files may be opened, and no figure may be made of
 * what was read. `why` gets the reason in words; `progress` may be NULL.
 */
int direct_read(const char *const dirs[], size_t count, struct core *core,
	const struct progress *progress, char *why, size_t why_size);

/*
 * Reads one trace from memory, for fuzzing: it may hold any bytes. Streams are ordered by their
 * place in the array instead of their names.
 */
struct direct_bytes {
	const uint8_t *data;
	size_t size;
};
int direct_read_memory(const struct direct_bytes *metadata, const struct direct_bytes *stream,
	size_t streams, struct core *core, char *why, size_t why_size);

#endif
