/* SPDX-License-Identifier: MIT */
/* A directory for files that are not kept. */
#ifndef MAGNET_CLI_SCRATCH_DIR_H
#define MAGNET_CLI_SCRATCH_DIR_H

#include <limits.h>
#include <stdbool.h>

/* Makes one in $TMPDIR, or in /var/tmp. Returns false after a message. */
bool scratch_dir_make(char path[PATH_MAX]);
/* Removes it with all that is in it. */
void scratch_dir_remove(const char *path);

#endif
