/* SPDX-License-Identifier: MIT */
/* The traces of a recording, found below its directories. */
#ifndef MAGNET_CORRELATE_READ_TRACES_H
#define MAGNET_CORRELATE_READ_TRACES_H

#include <stddef.h>

#define TRACES_MAX 4096 /* all of them are held in memory while they are read */

/* Directories that hold a CTF trace each. */
struct mg_traces {
	char **path;
	size_t count;
	/*
	 * one of the directories that have a stream named as magnet names them, but no metadata;
	 * NULL: none
	 */
	char *undescribed;
	char *link;       /* first link that was not followed, NULL: none */
	char *unreadable; /* first directory that may not be read, NULL: none */
};

/*
 * Finds all traces below the given directories, sorted by path. Returns 0 or a negative errno as
 * files_find() does; -EMLINK for more than TRACES_MAX. The caller frees `t` in any case.
 */
int mg_traces_find(struct mg_traces *t, const char *const dirs[], int count);
void mg_traces_free(struct mg_traces *t);

/* Returns the text for such an errno, to print after the directory and a colon. */
const char *mg_traces_problem(int err);

#endif
