/* SPDX-License-Identifier: MIT */
/* The directory a recording is written to. */
#ifndef MAGNET_CLI_RECORD_DIR_H
#define MAGNET_CLI_RECORD_DIR_H

#include <limits.h>
#include <stdbool.h>

#include "record_options.h"

struct record_dir {
	const char *dir; /* as the user calls it */
	bool was_there;
	char made_up[PATH_MAX], app[PATH_MAX], kernel[PATH_MAX];
};

/* Make it, for this recording alone; -1 after a line that says why not. */
int record_dir_make(struct record_dir *d, const struct record_options *o);

/* Removes one side's trace, d->app or d->kernel, that did not come about. */
void record_dir_remove_side(const char *dir);

/* Take it back, where nothing was recorded. */
void record_dir_remove(const struct record_dir *d);

#endif
