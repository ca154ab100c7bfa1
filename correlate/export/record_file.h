/* SPDX-License-Identifier: MIT */
/* A file of fixed-width records, written in large pieces. */
#ifndef MAGNET_CORRELATE_EXPORT_RECORD_FILE_H
#define MAGNET_CORRELATE_EXPORT_RECORD_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct record_file {
	char path[PATH_MAX];
	uint64_t rows;
	uint8_t *buffer; /* NULL before the first record */
	uint32_t used, bytes;
	int fd;
	int error; /* of the first write that failed; 0: none did */
};

/*
 * Makes DIR/NAME.bin, with underscores for characters that are no letters and digits. Returns false
 * with errno set.
 */
bool record_file_open(struct record_file *f, const char *dir, const char *name, uint32_t bytes);
/* Returns where to write one more record; NULL without memory or after a failed write. */
uint8_t *record_file_next(struct record_file *f);
/* Writes what is in the buffer. Returns false with errno set if any write failed. */
bool record_file_finish(struct record_file *f);
/* Frees all, and removes the file unless it is kept. */
void record_file_close(struct record_file *f, bool is_kept);
/* Returns the name of the file in its directory. */
const char *record_file_name(const struct record_file *f);

#endif
