/* SPDX-License-Identifier: MIT */
/* The archives of an LTTng session that is rotated: DIRECTORY/archives/BEGIN-END-NUMBER. */
#ifndef MAGNET_CLI_APP_SESSION_PARTS_H
#define MAGNET_CLI_APP_SESSION_PARTS_H

#include <stdint.h>

/* Returns the largest number of an archive below a session's output, -1 if there is none. */
int64_t app_session_last_part(const char *output);
/* Makes `dir`, with links 0001, 0002, … to the archives from this number on, 0 or more. Returns 0
 * or a negative errno. */
int app_session_link_parts(const char *output, int64_t first, const char *dir);

#endif
