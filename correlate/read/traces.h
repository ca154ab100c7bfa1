/* SPDX-License-Identifier: MIT */
/* The traces of a recording, found below its directories. */
#ifndef MAGNET_CORRELATE_READ_TRACES_H
#define MAGNET_CORRELATE_READ_TRACES_H

#include <stddef.h>

#define TRACES_MAX 4096 /* each is held in memory while all are read */

/* Directories that hold a CTF trace each. */
struct mg_traces {
	char **path;
	size_t count;
	/* Directories with a stream as magnet names them, but without the metadata that tells what
	 * is in it; NULL: there is none. Of several one. */
	char *undescribed;
	char *link; /* the first link that was not followed, NULL: none */
};

/*
 * Finds all below the given directories, in the order of their paths. Returns 0 or a negative
 * errno, as files_find() does; -EMLINK for more than TRACES_MAX. To be freed in any case.
 */
int mg_traces_find(struct mg_traces *t, const char *const dirs[], int count);
void mg_traces_free(struct mg_traces *t);

/* Returns what such an errno says of a directory, to stand behind its path and a colon. */
const char *mg_traces_problem(int err);

#endif
