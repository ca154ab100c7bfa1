/* SPDX-License-Identifier: MIT */
/* The trace directory on disk. */
#ifndef MAGNET_CLI_TRACE_FILES_H
#define MAGNET_CLI_TRACE_FILES_H

#include <stdbool.h>

bool dir_is_empty(const char *dir);
/*
 * Gives the kernel trace the clock offset of the application trace, so that any reader merges both
 * in true order: each recorder measured it, some hundred nanoseconds apart. Returns false if there
 * is no application trace.
 */
bool trace_align_clocks(const char *app_dir, const char *kernel_dir);
/* Under sudo: gives everything below `dir` to the user who called sudo. */
void trace_give_to_invoker(const char *dir);

#endif
