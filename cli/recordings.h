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
/*
 * Writes the path of session.json at `dir`, or else of the only one below it. Returns false if
 * there is none.
 */
bool session_path(const char *dir, char *path, size_t size);

#endif
