/* SPDX-License-Identifier: MIT */
/* The kernel's own list of its tracepoints. */
#ifndef MAGNET_KERNEL_TRACER_TRACEFS_H
#define MAGNET_KERNEL_TRACER_TRACEFS_H

#include <stddef.h>

/*
 * Returns a descriptor of tracefs' directory, mounted for this process only where it is not
 * mounted; or a negative errno and a message in `why`.
 */
int tracefs_open(char *why, size_t why_size);
/* Returns the content of a file below it; NULL with errno if it cannot be read. */
char *tracefs_read(int tracefs, const char *path);
/*
 * Returns the sorted names in a directory below it, ended by NULL; NULL if there is no such
 * directory.
 */
char **tracefs_list(int tracefs, const char *path);
void tracefs_list_free(char **names);
/* Writes why the kernel refuses a filter of an event; "" if the reason is not known. */
void tracefs_filter_reason(int tracefs, const char *category, const char *name, const char *filter,
	char *out, size_t size);

#endif
