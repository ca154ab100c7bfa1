/* SPDX-License-Identifier: MIT */
/* Recordings below a directory: all traces of one are read together. */
#ifndef MAGNET_CLI_RECORDINGS_H
#define MAGNET_CLI_RECORDINGS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns whether there is one recording below `dir`, after a message that names them if there are
 * several.
 */
bool holds_one_recording(const char *dir);

/* Paths of recordings; empty at first. */
struct recording_paths {
	char **path;
	size_t count;
};

/*
 * Adds the recordings below `dir` in the order of their numbers: `dir` itself unless there are
 * several, each with its session.json. Returns 0 or a negative errno after a message.
 */
int recordings_add(struct recording_paths *to, const char *dir);
void recordings_free(struct recording_paths *paths);
/* Returns whether it is known that two recordings were made one after the other. */
bool recordings_are_apart(const char *a, const char *b);

/*
 * Writes the path of session.json at `dir`, or else of the only one below it. Returns false if
 * there is none.
 */
bool session_path(const char *dir, char *path, size_t size);

#endif
