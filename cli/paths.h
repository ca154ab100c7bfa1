/* SPDX-License-Identifier: MIT */
/* Paths of magnet's other parts: beside this program in the build tree, or installed. */
#ifndef MAGNET_CLI_PATHS_H
#define MAGNET_CLI_PATHS_H

#include <limits.h>
#include <stdbool.h>

/* Looks for ../BUILD_DIR/NAME beside the running program, then INSTALL_DIR/NAME. */
bool find_part(
	char path[PATH_MAX], const char *build_dir, const char *install_dir, const char *name);

bool find_tracer(char path[PATH_MAX]);
/* Finds libmagnet.so in the form for LD_PRELOAD. Returns NULL, or why it cannot be used. */
const char *find_library(char path[PATH_MAX]);

#endif
