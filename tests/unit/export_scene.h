/* SPDX-License-Identifier: MIT */
/* A small recording that is exported, by a program with a name that no format may take as it is. */
#ifndef MAGNET_TESTS_EXPORT_SCENE_H
#define MAGNET_TESTS_EXPORT_SCENE_H

#include "export/export.h"
#include "feed.h"

#define A      1 /* sockets */
#define B      2
#define SENDER 10
#define READER 20
/* a quotation mark, an equals sign, a backslash, a comma, a tab, no UTF-8, UTF-8, a line's end, a
 * blank */
#define AWKWARD "q\"=\\,\t\xff\xc3\xa9\n z"
/* The same as words: each byte that is no character of a word is an underscore. */
#define AWKWARD_WORDS "q\"=\\,__\xc3\xa9__z"
/* The time of day at which CLOCK_MONOTONIC was 0: 2001-09-09 01:46:40 UTC. */
#define WALL_CLOCK 1000000000000000000u

typedef bool (*scene_begin_fn)(struct export *e);
typedef bool (*scene_end_fn)(struct export *e, bool is_read);

struct scene {
	struct core c;
	struct export e;
	json_t *session;
	char dir[64], to[128]; /* a directory of the test's own, and what is written in it */
};

/* Begins to export; `name` is what is written, or a path. */
void scene_begin(struct scene *s, const char *name, scene_begin_fn begin);
/*
 * The sender sends 300 and 200 bytes at 1000 and 3000000, and makes a call that fails; its peer
 * reads the first ones at 2000.
 */
void scene_feed(struct scene *s);
/* Ends the export of what was fed. Returns whether all was written. */
bool scene_write(struct scene *s, scene_end_fn end);
/* Frees all, and removes what was written. */
void scene_end(struct scene *s);
/* Returns the content of a file, or of one in the directory that was written; the caller frees it.
 */
char *scene_text(const struct scene *s, const char *name);
/* Returns whether what is written is there. */
bool scene_is_there(const struct scene *s);
/*
 * Returns a cell of a table of text with a head, the caller frees it: the column is found by its
 * name, rows count from 0. Cells must not contain the separator.
 */
char *scene_cell(const char *table, char separator, const char *column, int row);
/* Has writes beyond so many bytes of a file fail, as on a full disk; 0: no more. */
void scene_limit_files(uint64_t bytes);

#endif
