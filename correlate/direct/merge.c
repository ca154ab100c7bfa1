/* SPDX-License-Identifier: MIT */
#include "merge.h"

#include <errno.h>
#include <stdio.h>

/* ---- the heap ---- */

static void sift_down(const struct merge *m, size_t i)
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

void merge_order(const struct merge *m)
{
	for (size_t i = m->n / 2; i-- > 0;)
		sift_down(m, i);
}

/* ---- events ---- */

int merge_failed(const struct merge *m, const struct stream *s, const char *what)
{
	if (what == stream_no_more_files) {
		snprintf(m->why, m->why_size, "%s", what);
		return -EMFILE;
	}
	snprintf(m->why, m->why_size, "the trace is damaged: %s, byte %llu: %s",
		s->path ? s->path : "a stream", (unsigned long long)stream_position(s), what);
	return -EIO;
}

int merge_out_of_memory(const struct merge *m)
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

enum core_side stream_side(const struct stream *s)
{
	return s->layout->is_app ? CORE_APP : CORE_KERNEL;
}

static void tell_gap(const struct merge *m, const struct stream *s)
{
	core_missing_packets(m->core, stream_side(s), s->gap.count, s->gap.from, s->gap.to,
		s->has_cpu ? s->cpu : -1);
}

void contents_add(struct contents *sum, struct core *core, const struct stream *s)
{
	sum->events += s->events;
	if (s->contents)
		sum->told = s->contents;
	core_unknown_events(core, stream_side(s), s->unknown, s->unknown_name);
}

void contents_tell(const struct contents *sum, struct core *core, const struct layout *l)
{
	core_read_trace(core, l->is_app ? CORE_APP : CORE_KERNEL, sum->events, sum->told);
}

int merge_take(struct merge *m)
{
	const struct stream *other = second(m);
	bool text = core_listener(m->core) != NULL;
	struct stream *s = m->heap[0];
	const char *what = NULL;
	int err = 0;

	if (!s->window) /* only its start has been checked until now */
		what = stream_start(s);
	while (!what && !err && !s->ended && (!other || stream_before(s, other)) &&
		stream_key(s) <= m->limit) {
		struct mg_event *e;

		m->reached = stream_key(s);
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
		if (!s->grows)
			stream_close(s);
		m->heap[0] = m->heap[--m->n];
	}
	if (m->n)
		sift_down(m, 0);
	if (err || core_lacks_memory(m->core))
		return merge_out_of_memory(m);
	return what ? merge_failed(m, s, what) : 0;
}
