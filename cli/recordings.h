/* SPDX-License-Identifier: MIT */
/* How many recordings a directory holds: the traces below it are read as one. */
#ifndef MAGNET_CLI_RECORDINGS_H
#define MAGNET_CLI_RECORDINGS_H

#include <stdbool.h>
#include <stddef.h>

/* False if there are several below `dir`; says which. */
bool holds_one_recording(const char *dir);
/* The session.json at `dir`, or else the first below it. False if there is none. */
bool session_path(const char *dir, char *path, size_t size);

#endif
