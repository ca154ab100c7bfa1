/* SPDX-License-Identifier: MIT */
/* Traces with their streams, before they are merged. */
#ifndef MAGNET_CORRELATE_DIRECT_TRACE_H
#define MAGNET_CORRELATE_DIRECT_TRACE_H

#include "stream.h"

struct trace {
	struct layout layout;
	int64_t offset_ns;
	struct stream *stream;
	size_t streams;
};

/*
 * Opens the trace in a directory and reads the start of each file. Returns NULL, or what differs
 * from magnet's traces. The caller closes the trace in any case.
 */
const char *trace_open(struct trace *t, const char *dir);
/* Reads the metadata alone: the streams are the caller's. The caller closes the trace likewise. */
const char *trace_describe(struct trace *t, const char *dir);
/* Opens a trace with this metadata, to which the caller adds streams in order. */
const char *trace_open_memory(struct trace *t, const char *metadata, size_t size);
/* Adds a stream; takes over `path`. Returns NULL if memory is short. */
struct stream *trace_add(struct trace *t, char *path);
/*
 * Gives a trace another one's wall-clock offset: traces of one machine share a clock, although each
 * writer measured the offset for itself. Returns NULL, or why that cannot be.
 */
const char *trace_align(struct trace *t, int64_t offset_ns);
/* Checks the start of each stream. */
const char *trace_check(struct trace *t);
void trace_close(struct trace *t);

#endif
