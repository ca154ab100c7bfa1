/* SPDX-License-Identifier: MIT */
/* The trace directory of a recording. */
#ifndef MAGNET_CLI_RECORD_DIR_H
#define MAGNET_CLI_RECORD_DIR_H

#include <limits.h>
#include <stdbool.h>

#include "record_options.h"

struct record_dir {
	const char *dir; /* path as the user wrote it */
	bool was_there;
	char made_up[PATH_MAX], app[PATH_MAX], kernel[PATH_MAX];
};

/* Makes the directory, for this recording alone. Returns -1 after a message. */
int record_dir_make(struct record_dir *d, const struct record_options *o);
/* Makes a directory for directories of recordings. Returns -1 after a message. */
int record_dir_make_top(struct record_dir *d, const struct record_options *o);

/* Removes the trace of a side, d->app or d->kernel, that was not recorded. */
void record_dir_remove_side(const char *dir);

/* Removes a directory with all in it, down to so many directories below it. */
void record_dir_remove_tree(const char *dir, int depth);

/* Removes the directory after a recording that recorded nothing. */
void record_dir_remove(const struct record_dir *d);

#endif
