/* SPDX-License-Identifier: MIT */
#include "direct.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "alloc.h"
#include "trace.h"

/* Streams that have events left, in a heap with the earliest next event first. */
struct merge {
	struct stream **heap;
	size_t n;
	const struct trace *traces;
	size_t count;
	struct core *core;
	const struct progress *progress;
	uint64_t done, total; /* bytes */
	char *why;
	size_t why_size;
};

/* ---- the heap ---- */

static void sift_down(struct merge *m, size_t i)
{
	struct stream *s = m->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child + 1 < m->n && stream_before(m->heap[child + 1], m->heap[child]))
			child++;
		if (child >= m->n || stream_before(s, m->heap[child]))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = s;
}

/* Returns the stream with the earliest event except the first one's. */
static const struct stream *second(const struct merge *m)
{
	if (m->n > 2 && stream_before(m->heap[2], m->heap[1]))
		return m->heap[2];
	return m->n > 1 ? m->heap[1] : NULL;
}

/* ---- events ---- */

/* Returns the error number for what is wrong with a stream. */
static int failed(struct merge *m, const struct stream *s, const char *what)
{
	if (what == stream_no_more_files) {
		snprintf(m->why, m->why_size, "%s", what);
		return -EMFILE;
	}
	snprintf(m->why, m->why_size, "the trace is damaged: %s, byte %llu: %s",
		s->path ? s->path : "a stream", (unsigned long long)stream_position(s), what);
	return -EIO;
}

static int out_of_memory(const struct merge *m)
{
	snprintf(m->why, m->why_size, "out of memory");
	return -ENOMEM;
}

static void tell(struct merge *m, struct stream *s)
{
	m->done += s->read;
	s->read = 0;
	if (m->progress)
		m->progress->tell(m->progress->arg, m->done, m->total);
}

static enum core_side side_of(const struct stream *s)
{
	return s->layout->is_app ? CORE_APP : CORE_KERNEL;
}

static void tell_gap(struct merge *m, const struct stream *s)
{
	core_missing_packets(m->core, side_of(s), s->gap.count, s->gap.from, s->gap.to,
		s->has_cpu ? s->cpu : -1);
}

/* Passes the number of events read from each trace to the core. */
static void tell_events(const struct merge *m)
{
	for (size_t i = 0; i < m->count; i++) {
		const struct trace *t = &m->traces[i];
		enum core_side side = t->layout.is_app ? CORE_APP : CORE_KERNEL;
		uint64_t events = 0, contents = 0;

		for (size_t j = 0; j < t->streams; j++) {
			const struct stream *s = &t->stream[j];

			events += s->events;
			if (s->contents)
				contents = s->contents;
			core_unknown_events(m->core, side, s->unknown, s->unknown_name);
		}
		core_read_trace(m->core, side, events, contents);
	}
}

/* Reads events of the first stream while no other stream has an earlier one. */
static int take(struct merge *m)
{
	const struct stream *other = second(m);
	bool text = core_listener(m->core) != NULL;
	struct stream *s = m->heap[0];
	const char *what = NULL;
	int err = 0;

	if (!s->window) /* only its start has been checked until now */
		what = stream_start(s);
	while (!what && !err && !s->ended && (!other || stream_before(s, other))) {
		struct mg_event *e;

		if (s->gap.count) {
			tell_gap(m, s);
			what = stream_pass_gap(s);
			continue;
		}
		e = core_room(m->core);
		if (!e) {
			err = -ENOMEM;
			break;
		}
		what = stream_event(s, e, text);
		if (!what && e->id)
			core_put(m->core);
		if (!what)
			what = stream_advance(s);
	}
	if (s->read)
		tell(m, s);
	if (s->ended) {
		stream_close(s);
		m->heap[0] = m->heap[--m->n];
	}
	if (m->n)
		sift_down(m, 0);
	if (err || core_lacks_memory(m->core))
		return out_of_memory(m);
	return what ? failed(m, s, what) : 0;
}

static int merge(struct merge *m)
{
	int err = 0, finished;

	for (size_t i = m->n / 2; i-- > 0;)
		sift_down(m, i);
	while (m->n && !err)
		err = take(m);
	tell_events(m);
	finished = core_finish(m->core); /* the events read before a failure count */
	return finished && !err ? out_of_memory(m) : err;
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
 * Aligns the clocks of traces of one machine, which share a clock although each writer measured its
 * wall-clock offset for itself: the first trace's offset holds for all. Returns a reason if they
 * cannot be aligned; bt/graph.c can check more clocks.
 */
static const char *align(struct trace *traces, size_t count)
{
	int64_t reference = traces[0].offset_ns;

	for (size_t i = 1; i < count && traces[0].streams; i++) {
		if (traces[i].streams && llabs(reference - traces[i].offset_ns) > 1000000000)
			return "the traces' clocks are far apart";
		traces[i].offset_ns = reference;
	}
	return NULL;
}

static int read_all(struct trace *traces, size_t count, struct merge *m)
{
	size_t streams = 0;
	const char *why;
	int err;

	m->traces = traces;
	m->count = count;
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
	for (size_t i = 0; i < count; i++)
		for (size_t j = 0; j < traces[i].streams; j++) {
			m->heap[m->n++] = &traces[i].stream[j];
			m->total += traces[i].stream[j].size;
		}
	err = merge(m);
	free(m->heap);
	return err;
}

int direct_read(const char *const dirs[], size_t count, struct core *core,
	const struct progress *progress, char *why, size_t why_size)
{
	struct merge m = {.core = core, .progress = progress, .why = why, .why_size = why_size};
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
	return core_lacks_memory(core) ? out_of_memory(&m) : err;
}

int direct_read_memory(const struct direct_bytes *metadata, const struct direct_bytes *stream,
	size_t streams, struct core *core, char *why, size_t why_size)
{
	struct merge m = {.core = core, .why = why, .why_size = why_size};
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
	return core_lacks_memory(core) ? out_of_memory(&m) : err;
}
