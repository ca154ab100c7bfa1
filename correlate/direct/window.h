/* SPDX-License-Identifier: MIT */
/*
 * The part of a file that is in memory. Of large files the part behind it is read by another thread
 * while that has nothing else to do: with a recording in the page cache, copying it takes a
 * twentieth of the time of the thread that works on it.
 */
#ifndef MAGNET_CORRELATE_DIRECT_WINDOW_H
#define MAGNET_CORRELATE_DIRECT_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/contract.h"
#include "handover.h"

/* Memory of a window: what has been left of the window before stands before what was read. */
struct window_room {
	uint8_t *bytes;
	size_t size;
};

/* The part of the file that is read ahead. */
struct window_ahead {
	struct errand errand;
	struct window_room room;
	struct core *core; /* whose other thread does it; NULL: nobody does */
	int fd, error;     /* a number of errno, 0 = all was read */
	uint64_t at, size; /* in the file, bytes */
	bool is_left;      /* with the other thread */
};

struct window {
	const uint8_t *bytes; /* NULL: not begun */
	uint64_t at, size;    /* in the file, bytes */
	uint64_t cap;         /* bytes that are read at once */
	struct window_room room;
	struct window_ahead ahead;
};

/* A file, or its content in memory. */
struct window_source {
	const uint8_t *memory; /* NULL: a file */
	int fd;
	uint64_t size;
};

/* The following functions return NULL, or what is wrong. */

/* Reads exactly `size` bytes. */
const char *window_read(const struct window_source *from, uint64_t at, uint8_t *out, uint64_t size);
/*
 * Begins at the start of a source, of which nothing is read yet. Large files are read ahead by the
 * other thread of `core`; NULL: by nobody. A file that `grows` has a window of the usual size.
 */
const char *window_begin(
	struct window *w, const struct window_source *from, bool grows, struct core *core);
/* Moves the window to begin at `next`, which is in it or at its end. */
const char *window_move(struct window *w, const struct window_source *from, uint64_t next);
/* Enlarges the window for a packet of so many bytes at `next`, and moves it there. */
const char *window_enlarge(
	struct window *w, const struct window_source *from, uint64_t next, uint64_t size);
/* Frees it, as if it had never begun. */
void window_end(struct window *w);

#endif
