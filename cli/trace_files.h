/* SPDX-License-Identifier: MIT */
/* The trace directory on disk. */
#ifndef MAGNET_CLI_TRACE_FILES_H
#define MAGNET_CLI_TRACE_FILES_H

#include <stdbool.h>

bool dir_is_empty(const char *dir);
/*
 * LTTng and the kernel tracer each measured where CLOCK_MONOTONIC stands on the wall clock, some
 * hundred nanoseconds apart. Give the kernel trace LTTng's figure, so that any reader merges both
 * in true order. False if there is no application trace to take it from.
 */
bool trace_align_clocks(const char *app_dir, const char *kernel_dir);
/* Run by sudo: everything below belongs to who called sudo. */
void trace_give_to_invoker(const char *dir);

#endif
