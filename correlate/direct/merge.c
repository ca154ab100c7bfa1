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

/*
 * Takes plain events of the present packet, up to the key `last`, with what changes in registers.
 * Leaves the stream at the next event, or at the first one that is not plain. Returns NULL, or what
 * is wrong.
 */
static const char *take_plain(struct merge *m, struct stream *s, int64_t last)
{
	const struct layout *l = s->layout;
	const uint8_t *at = s->at, *const end = s->end;
	const uint64_t until = s->until, latest = (uint64_t)last - (uint64_t)s->offset_ns;
	uint64_t time = s->time, next = time, taken = 0;
	const struct event_class *k;
	const int16_t cpu = s->cpu;
	struct core *c = m->core;
	struct mg_event *e;

	while (next <= latest && (k = stream_plain(l, at, end)) && (e = core_room(c))) {
		time = next;
		e->time_ns = time;
		e->cpu = cpu;
		at = stream_decode(l, k, at, e);
		core_put(c);
		taken++;
		if ((size_t)(end - at) < l->event_head)
			break;
		memcpy(&next, at + l->time.at, sizeof(next));
		if (next < time || next > until)
			break;
	}
	m->reached = (int64_t)time + s->offset_ns;
	s->at = at;
	s->time = time;
	s->events += taken;
	s->has_cpu |= taken > 0;
	return taken ? stream_advance(s) : NULL;
}

/* Returns the key of the last event that is read now: events as old are read by rank. */
static int64_t last_now(const struct merge *m, const struct stream *s)
{
	const struct stream *other = second(m);
	int64_t last = m->limit, key = other ? stream_key(other) : INT64_MAX;

	if (other && s->rank > other->rank)
		key--;
	return key < last ? key : last;
}

int merge_take(struct merge *m)
{
	bool text = core_listener(m->core) != NULL;
	struct stream *s = m->heap[0];
	int64_t last = last_now(m, s);
	const char *what = NULL;

	if (!s->window.bytes) /* only its start has been checked until now */
		what = stream_start(s);
	while (!what && !s->ended && stream_key(s) <= last) {
		struct mg_event *e;

		m->reached = stream_key(s);
		if (s->gap.count) {
			tell_gap(m, s);
			what = stream_pass_gap(s);
			continue;
		}
		if (stream_plain(s->layout, s->at, s->end)) {
			what = take_plain(m, s, last);
			if (core_lacks_memory(m->core))
				break;
			continue;
		}
		e = core_room(m->core);
		if (!e)
			break;
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
	if (core_lacks_memory(m->core))
		return merge_out_of_memory(m);
	return what ? merge_failed(m, s, what) : 0;
}
