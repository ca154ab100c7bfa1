/* SPDX-License-Identifier: MIT */
/* Streams of one or several traces, merged by time into the core. */
#ifndef MAGNET_CORRELATE_DIRECT_MERGE_H
#define MAGNET_CORRELATE_DIRECT_MERGE_H

#include "core/contract.h"
#include "progress.h"
#include "stream.h"

/* Streams that have events left, in a heap with the earliest next event first. */
struct merge {
	struct stream **heap;
	size_t n;
	struct core *core;
	const struct progress *progress;
	uint64_t done, total; /* bytes */
	/* keys, as stream_key() has them: events up to `limit` are read; of the last one read */
	int64_t limit, reached;
	char *why;
	size_t why_size;
};

/* Number of events in the files of a trace, counted and as one of them tells it. */
struct contents {
	uint64_t events, told;
};
/* Adds a stream of the trace, and tells the core which events are not known. */
void contents_add(struct contents *sum, struct core *core, const struct stream *s);
/* Tells the core the sums of a trace. */
void contents_tell(const struct contents *sum, struct core *core, const struct layout *l);

/* Orders the heap after streams were put into it. */
void merge_order(const struct merge *m);
/*
 * Reads events of the first stream while no other stream has an earlier one. Leaves the stream out
 * of the heap if it has ended. Returns 0 or a negative errno with the reason in `why`.
 */
int merge_take(struct merge *m);
/* Return the error number for what is wrong with a stream, or for short memory. */
int merge_failed(const struct merge *m, const struct stream *s, const char *what);
int merge_out_of_memory(const struct merge *m);
/* Returns the side of the recording that a stream belongs to. */
enum core_side stream_side(const struct stream *s);

#endif
