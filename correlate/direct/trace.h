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
 * The trace in this directory, with the begin of each file. Returns what is not as magnet
 * writes it, NULL if all is. To be closed in any case.
 */
const char *trace_open(struct trace *t, const char *dir);
/* One of this description, and of streams that are added later, in order. */
const char *trace_open_memory(struct trace *t, const char *metadata, size_t size);
/* `path` is taken over. NULL without memory. */
struct stream *trace_add(struct trace *t, char *path);
/* How the streams begin. */
const char *trace_check(struct trace *t);
void trace_close(struct trace *t);

#endif
