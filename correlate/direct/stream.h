/* SPDX-License-Identifier: MIT */
/*
 * One stream of a trace, event by event. The file is read through a window instead of mapped:
 * memory does not grow with the file, and a file that is shortened meanwhile ends the reading, not
 * the process.
 */
#ifndef MAGNET_CORRELATE_DIRECT_STREAM_H
#define MAGNET_CORRELATE_DIRECT_STREAM_H

#include <stddef.h>

#include "layout.h"
#include "window.h"

_Static_assert(offsetof(struct mg_event, pid) == offsetof(struct mg_event, tid) + 4 &&
		       offsetof(struct mg_call, pid) == offsetof(struct mg_call, tid) + 4,
	"tid and pid are copied together");

struct stream {
	const struct layout *layout;
	const uint8_t *memory; /* content, instead of a file */
	char *path;
	int fd; /* -1 = not open */
	uint64_t size;
	int64_t offset_ns; /* added to times when streams are compared */
	uint32_t rank;     /* order among streams with equal times */

	struct core *core; /* whose other thread may read the file ahead; NULL: nobody does */
	struct window window;
	uint64_t next;           /* start of the next packet */
	const uint8_t *at, *end; /* rest of the present packet's events */
	/* time of the event at `at`; end time of the packet */
	uint64_t time, until;
	bool has_cpu, ended;
	bool grows; /* somebody writes the file: it ends for now only */
	int16_t cpu;
	uint64_t read;                    /* bytes read */
	uint64_t packet;                  /* number of the next packet */
	struct {                          /* packets missing before the present one: */
		uint64_t count, from, to; /* 0 = none; times */
	} gap;
	/* events of its trace according to an event of this stream; 0 = no such event */
	uint64_t contents;
	uint64_t events, unknown; /* events so far; those that are not in the table */
	const char *unknown_name; /* name of the first one that is not */
};

/* Returned where the process may open no more files: the trace is not damaged. */
extern const char stream_no_more_files[];

/*
 * Checks the start of a file. Returns NULL, or what is wrong; on success `time` is set to the first
 * packet's start.
 */
const char *stream_check(struct stream *s);
/* The following functions return NULL, or what is wrong. stream_start() goes to the first event. */
const char *stream_start(struct stream *s);
const char *stream_event_any(struct stream *s, struct mg_event *out, bool text);
/*
 * Returns the class of the event at `head`; NULL if it is not a plain one, or so near to the
 * packet's end that a copy would go beyond.
 */
static inline const struct event_class *stream_plain(
	const struct layout *l, const uint8_t *head, const uint8_t *end)
{
	const struct event_class *k;
	uint16_t id;

	memcpy(&id, head + l->id.at, sizeof(id));
	k = id < l->classes ? l->class[id] : NULL;
	return k && k->is_plain && (size_t)(end - head) >= l->event_head + PLAIN_BYTES ? k : NULL;
}
/* Decodes the plain event at `head`; its time and CPU are the caller's. Returns its end. */
static inline const uint8_t *stream_decode(const struct layout *l, const struct event_class *k,
	const uint8_t *head, struct mg_event *out)
{
	const uint8_t *fields = head + l->event_head;

	out->id = k->id;
	memcpy((uint8_t *)out + offsetof(struct mg_event, tid), head + k->ids_at,
		sizeof(out->tid) + sizeof(out->pid));
	copy_plain((uint8_t *)&out->sys_enter, fields, k->mask);
	return fields + k->size;
}
/*
 * Decodes the present event; `id` is 0 if it is not magnet's. With `text`, also writes the fields
 * of chosen events.
 */
static inline const char *stream_event(struct stream *s, struct mg_event *out, bool text)
{
	const struct event_class *k = stream_plain(s->layout, s->at, s->end);

	if (!k)
		return stream_event_any(s, out, text);
	out->time_ns = s->time;
	out->cpu = s->cpu;
	s->at = stream_decode(s->layout, k, s->at, out);
	s->events++;
	s->has_cpu = true;
	return NULL;
}
/* Goes past the gap before the next event. */
const char *stream_pass_gap(struct stream *s);
const char *stream_enter(struct stream *s);
/* Goes to the next event; sets `ended` if there is none. */
static inline const char *stream_advance(struct stream *s)
{
	const struct layout *l = s->layout;
	uint64_t time;

	if ((size_t)(s->end - s->at) < l->event_head)
		return stream_enter(s);
	memcpy(&time, s->at + l->time.at, sizeof(time));
	if (time < s->time || time > s->until)
		return "time runs backwards";
	s->time = time;
	return NULL;
}
/* Looks how long a file that grows is by now; clears `ended` if there is more to read. */
const char *stream_more(struct stream *s);
/* Closes and frees the stream, as if it had never been opened. */
void stream_close(struct stream *s);

static inline int64_t stream_key(const struct stream *s)
{
	return (int64_t)s->time + s->offset_ns;
}
static inline bool stream_before(const struct stream *a, const struct stream *b)
{
	int64_t x = stream_key(a), y = stream_key(b);

	return x != y ? x < y : a->rank < b->rank;
}
/* Returns the position in the file, to report damage. */
uint64_t stream_position(const struct stream *s);

#endif
