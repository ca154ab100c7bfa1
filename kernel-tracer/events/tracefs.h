/* SPDX-License-Identifier: MIT */
/* The kernel's own list of its tracepoints. */
#ifndef MAGNET_KERNEL_TRACER_TRACEFS_H
#define MAGNET_KERNEL_TRACER_TRACEFS_H

#include <stddef.h>

/*
 * A descriptor of tracefs' directory, mounted for it alone where it is mounted nowhere; or a
 * negative errno, and what to say of it.
 */
int tracefs_open(char *why, size_t why_size);
/* A whole file below it; NULL with errno if it cannot be read. */
char *tracefs_read(int tracefs, const char *path);
/* Names in a directory below it, sorted; NULL if there is none. The last is followed by NULL. */
char **tracefs_list(int tracefs, const char *path);
void tracefs_list_free(char **names);
/* Why the kernel refuses a filter of an event; "" if it does not tell. */
void tracefs_filter_reason(int tracefs, const char *category, const char *name, const char *filter,
	char *out, size_t size);

#endif
