/* SPDX-License-Identifier: MIT */
/* A file that a command makes: it is there whole, or not at all. */
#ifndef MAGNET_COMMON_OUTPUT_FILE_H
#define MAGNET_COMMON_OUTPUT_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

struct output_file {
	FILE *to;
	const char *path;
	/* where it is written until it is whole; "": in its place, as that is no regular file */
	char temporary[PATH_MAX];
};

/* Opens the file that will be at `path`; "-" is standard output. Returns false with errno set. */
bool output_file_open(struct output_file *f, const char *path);
/*
 * Closes it. Puts it into its place if `keep` is set and all was written, else removes it. Returns
 * false with errno set if writing failed.
 */
bool output_file_close(struct output_file *f, bool keep);

#endif
