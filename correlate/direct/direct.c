/* SPDX-License-Identifier: MIT */
#include "direct.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "alloc.h"
#include "merge.h"
#include "trace.h"

/* Passes the number of events read from each trace to the core. */
static void tell_events(struct core *core, const struct trace *traces, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct contents sum = {0};

		for (size_t j = 0; j < traces[i].streams; j++)
			contents_add(&sum, core, &traces[i].stream[j]);
		contents_tell(&sum, core, &traces[i].layout);
	}
}

static int merge(struct merge *m, const struct trace *traces, size_t count)
{
	int err = 0, finished;

	merge_order(m);
	while (m->n && !err)
		err = merge_take(m);
	tell_events(m->core, traces, count);
	finished = core_finish(m->core); /* the events read before a failure count */
	return finished && !err ? merge_out_of_memory(m) : err;
}

/* ---- order ---- */

static int by_uuid(const void *a, const void *b)
{
	return memcmp((*(struct trace *const *)a)->layout.tsdl.uuid,
		(*(struct trace *const *)b)->layout.tsdl.uuid, 16);
}

/*
 * Orders the streams for events with equal times: by the UUIDs of their traces, then by their
 * names, as babeltrace2 does.
 */
static const char *rank_streams(struct trace *traces, size_t count)
{
	struct trace **order = mg_calloc(count, sizeof(*order));
	const char *why = order ? NULL : "no memory";
	uint32_t rank = 0;

	for (size_t i = 0; i < count && order; i++)
		order[i] = &traces[i];
	if (order)
		qsort(order, count, sizeof(struct trace *), by_uuid);
	for (size_t i = 0; i < count && !why; i++) {
		if (i && by_uuid(&order[i - 1], &order[i]) == 0)
			why = "two traces of one UUID";
		for (size_t j = 0; j < order[i]->streams; j++) {
			order[i]->stream[j].rank = rank++;
			order[i]->stream[j].offset_ns = order[i]->offset_ns;
		}
	}
	free(order);
	return why;
}

/*
 * Has the first trace's offset hold for all. Returns a reason if that cannot be; bt/graph.c can
 * check more clocks.
 */
static const char *align(struct trace *traces, size_t count)
{
	const char *why = NULL;

	for (size_t i = 1; i < count && traces[0].streams && !why; i++)
		why = traces[i].streams ? trace_align(&traces[i], traces[0].offset_ns) : NULL;
	return why;
}

/* Streams that have memory to be read ahead. */
#define AHEAD_MOST 16

static int read_all(struct trace *traces, size_t count, struct merge *m)
{
	size_t streams = 0;
	const char *why;
	bool ahead;
	int err;

	core_know_wall_clock(m->core, traces[0].offset_ns);
	why = align(traces, count);
	if (!why)
		why = rank_streams(traces, count);
	for (size_t i = 0; i < count; i++)
		streams += traces[i].streams;
	if (!why && !streams)
		why = "no events";
	if (!why) {
		m->heap = mg_calloc(streams, sizeof(struct stream *));
		why = m->heap ? NULL : "no memory";
	}
	if (why) {
		snprintf(m->why, m->why_size, "%s", why);
		return DIRECT_NOT_OURS;
	}
	ahead = streams <= AHEAD_MOST && core_is_apart(m->core);
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < traces[i].streams; j++) {
			m->heap[m->n++] = &traces[i].stream[j];
			m->total += traces[i].stream[j].size;
			traces[i].stream[j].core = ahead ? m->core : NULL;
		}
	err = merge(m, traces, count);
	free(m->heap);
	return err;
}

int direct_read(const char *const dirs[], size_t count, struct core *core,
	const struct progress *progress, char *why, size_t why_size)
{
	struct merge m = {.core = core,
		.limit = INT64_MAX,
		.progress = progress,
		.why = why,
		.why_size = why_size};
	struct trace *traces = mg_calloc(count + 1, sizeof(*traces));
	int err = DIRECT_NOT_OURS;
	size_t opened = 0;

	snprintf(why, why_size, "nothing to read");
	while (traces && opened < count) {
		const char *other = trace_open(&traces[opened], dirs[opened]);

		opened++;
		if (other == stream_no_more_files) {
			snprintf(why, why_size, "%s", other);
			err = -EMFILE;
			goto out;
		}
		if (other) {
			snprintf(why, why_size, "%s: %s", dirs[opened - 1], other);
			goto out;
		}
	}
	if (opened)
		err = read_all(traces, count, &m);
out:
	for (size_t i = 0; i < opened; i++)
		trace_close(&traces[i]);
	free(traces);
	return core_lacks_memory(core) ? merge_out_of_memory(&m) : err;
}

int direct_read_memory(const struct direct_bytes *metadata, const struct direct_bytes *stream,
	size_t streams, struct core *core, char *why, size_t why_size)
{
	struct merge m = {.core = core, .limit = INT64_MAX, .why = why, .why_size = why_size};
	struct trace t;
	const char *other = trace_open_memory(&t, (const char *)metadata->data, metadata->size);
	int err = DIRECT_NOT_OURS;

	for (size_t i = 0; i < streams && !other; i++) {
		struct stream *s = stream[i].size ? trace_add(&t, NULL) : NULL;

		if (!stream[i].size)
			continue;
		if (!s) {
			other = "no memory";
			break;
		}
		s->memory = stream[i].data;
		s->size = stream[i].size;
	}
	if (!other)
		other = trace_check(&t);
	if (other)
		snprintf(why, why_size, "%s", other);
	else
		err = read_all(&t, 1, &m);
	trace_close(&t);
	return core_lacks_memory(core) ? merge_out_of_memory(&m) : err;
}
