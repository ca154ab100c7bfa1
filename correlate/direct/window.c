/* SPDX-License-Identifier: MIT */
#include "window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"

#define USUAL    (128u * 1024) /* bytes of a window */
#define LARGE    (256u * 1024) /* bytes that are read ahead */
#define WORTH_IT (4 * LARGE)   /* smaller files are not read ahead */
/* Room for an unfinished packet before what was read ahead. */
#define LEFT_MOST (64u * 1024)

static const char shorter[] = "the file has become shorter";

/* Returns a number of errno; -1 if the file ends before. */
static int read_file(int fd, uint64_t at, uint8_t *out, uint64_t size)
{
	uint64_t done = 0;

	while (done < size) {
		ssize_t n = pread(fd, out + done, size - done, (off_t)(at + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno;
		if (n == 0)
			return -1;
		done += (uint64_t)n;
	}
	return 0;
}

const char *window_read(const struct window_source *from, uint64_t at, uint8_t *out, uint64_t size)
{
	int err;

	if (from->memory) {
		memcpy(out, from->memory + at, size);
		return NULL;
	}
	err = read_file(from->fd, at, out, size);
	return err > 0 ? strerror(err) : err ? shorter : NULL;
}

const char *window_begin(
	struct window *w, const struct window_source *from, bool grows, struct core *core)
{
	w->cap = from->size < USUAL && !grows ? from->size : USUAL;
	w->room = (struct window_room){mg_malloc(w->cap), w->cap};
	w->bytes = w->room.bytes;
	w->ahead.core = from->memory || from->size < WORTH_IT ? NULL : core;
	return w->bytes ? NULL : "no memory";
}

/* ---- reading ahead ---- */

static void run(struct errand *e)
{
	struct window_ahead *a = (struct window_ahead *)e; /* its first member */

	a->error = read_file(a->fd, a->at, a->room.bytes + LEFT_MOST, a->size);
}

_Static_assert(offsetof(struct window_ahead, errand) == 0, "run() is given the errand");

/* Has what is behind the window read. */
static void leave(struct window *w, const struct window_source *from)
{
	struct window_ahead *a = &w->ahead;
	uint64_t at = w->at + w->size;

	if (!a->core || at >= from->size || w->cap > LARGE)
		return;
	if (a->room.size < LEFT_MOST + LARGE) {
		free(a->room.bytes);
		a->room = (struct window_room){mg_malloc(LEFT_MOST + LARGE), LEFT_MOST + LARGE};
	}
	if (!a->room.bytes)
		return;
	a->errand.run = run;
	a->fd = from->fd;
	a->at = at;
	a->size = from->size - at < LARGE ? from->size - at : LARGE;
	a->is_left = core_leave(a->core, &a->errand);
}

/* Returns whether what is behind the window has been read. */
static bool is_read(struct window_ahead *a)
{
	bool done = a->is_left && core_done(a->core, &a->errand);

	a->is_left = false;
	return done && !a->error;
}

/* Moves to what was read ahead. Returns false if that cannot be used. */
static bool take_ahead(struct window *w, uint64_t next)
{
	struct window_ahead *a = &w->ahead;
	uint64_t left = w->at + w->size - next;
	struct window_room room = w->room;
	uint8_t *begin;

	if (!is_read(a) || left > LEFT_MOST || a->at != next + left)
		return false;
	begin = a->room.bytes + LEFT_MOST - left;
	memcpy(begin, w->bytes + (next - w->at), left);
	w->room = a->room;
	a->room = room;
	w->bytes = begin;
	w->at = next;
	w->size = left + a->size;
	return true;
}

/* ---- moving ---- */

const char *window_move(struct window *w, const struct window_source *from, uint64_t next)
{
	uint64_t left = from->size - next;
	const char *why = NULL;

	if (!take_ahead(w, next)) {
		w->bytes = w->room.bytes;
		w->at = next;
		w->size = left < w->cap ? left : w->cap;
		why = window_read(from, next, w->room.bytes, w->size);
	}
	if (!why)
		leave(w, from);
	return why;
}

const char *window_enlarge(
	struct window *w, const struct window_source *from, uint64_t next, uint64_t size)
{
	if (size > w->room.size) {
		uint8_t *more = mg_realloc(w->room.bytes, size);

		if (!more)
			return "no memory";
		w->room = (struct window_room){more, size};
	}
	(void)is_read(&w->ahead); /* it is read again, in one piece */
	w->cap = size;
	return window_move(w, from, next);
}

void window_end(struct window *w)
{
	(void)is_read(&w->ahead);
	free(w->room.bytes);
	free(w->ahead.room.bytes);
	*w = (struct window){.bytes = NULL};
}
