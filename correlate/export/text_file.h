/* SPDX-License-Identifier: MIT */
/* A file of text that a format writes. */
#ifndef MAGNET_CORRELATE_EXPORT_TEXT_FILE_H
#define MAGNET_CORRELATE_EXPORT_TEXT_FILE_H

#include <limits.h>
#include <stdio.h>

#include "export/export.h"

struct text_file {
	FILE *to;
	char path[PATH_MAX];
};

/* Open a file of the directory that is written, by its name; or the one file. `why` is set on
 * failure. */
bool text_file_open(struct text_file *f, struct export *e, const char *name, ...)
	__attribute__((format(printf, 3, 4)));
bool text_file_open_output(struct text_file *f, struct export *e);
/*
 * Closes the file, and removes it unless it is kept. Returns false with `why` set if not all of it
 * was written; then it is removed, too. A file that was not opened is closed well.
 */
bool text_file_close(struct text_file *f, struct export *e, bool is_kept);
/* Removes a file of the directory that was closed, as others of it could not be written. */
void text_file_remove(const struct text_file *f);

#endif
