/* SPDX-License-Identifier: MIT */
/*
 * One stream of a trace, event by event. The file is read through a window, not mapped: so memory
 * does not grow with it, and one that becomes shorter meanwhile ends the reading, not the process.
 */
#ifndef MAGNET_CORRELATE_DIRECT_STREAM_H
#define MAGNET_CORRELATE_DIRECT_STREAM_H

#include "layout.h"

struct stream {
	const struct layout *layout;
	const uint8_t *memory; /* instead of a file */
	char *path;
	int fd; /* -1 = not open */
	uint64_t size;
	int64_t offset_ns; /* to be added to times, to compare streams */
	uint32_t rank;     /* who comes first of those at the same time */

	uint8_t *window;
	uint64_t window_at, window_size, window_cap; /* of the file, bytes */
	uint64_t next;                               /* packet, where it begins */
	const uint8_t *at, *end;                     /* of the present packet's events */
	uint64_t time, until;                        /* of the event at `at`; of the packet's end */
	bool has_cpu, ended;
	int16_t cpu;
	uint64_t read;                    /* bytes */
	uint64_t packet;                  /* number of the next */
	struct {                          /* packets that are not there, before the present one: */
		uint64_t count, from, to; /* 0 = none; times */
	} gap;
	uint64_t contents; /* events of its trace, as one of this stream tells; 0 = none does */
	uint64_t events, unknown; /* so far; of these, those that are not in the table, */
	const char *unknown_name; /* the first of them by name */
};

/* What is wrong where the process may open no more files: the trace is not damaged. */
extern const char stream_no_more_files[];

/*
 * Whether a file begins as one of ours does. Returns what is wrong with it, NULL if nothing is;
 * then `time` is what it begins with.
 */
const char *stream_check(struct stream *s);
/* These return what is wrong, NULL if nothing is. On to the first event: */
const char *stream_start(struct stream *s);
/* The present event; what is not magnet's has `id` 0. `text`: also the fields of chosen ones. */
const char *stream_event(struct stream *s, struct mg_event *out, bool text);
/* Past the gap that stands before the next event. */
const char *stream_pass_gap(struct stream *s);
/* On to the next; `ended` if there is none. */
const char *stream_advance(struct stream *s);
/* Close and free; the same as never opened. */
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
/* Where it is in the file, for who tells of damage. */
uint64_t stream_position(const struct stream *s);

#endif
