/* SPDX-License-Identifier: MIT */
/*
 * Reading files of a recording from an untrusted source: regular files only, and of bounded size.
 */
#ifndef MAGNET_COMMON_PLAIN_FILE_H
#define MAGNET_COMMON_PLAIN_FILE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Opens a regular file for reading, without waiting for anybody (a pipe has another end), and
 * without following a link in the last part of the path. `size` gets its bytes. Returns the
 * descriptor, or a negative errno: -ELOOP for a link, -EMEDIUMTYPE for whatever else is no file.
 */
int plain_file_open(const char *path, uint64_t *size);
/* Opens it likewise, but follows a link: for a path that the user named. */
int plain_file_open_named(const char *path, uint64_t *size);

/*
 * Returns the bytes of such a file, followed by a 0, to be freed. NULL with an errno, as above or
 * EFBIG for more than `most` bytes, or ENOMEM.
 */
char *plain_file_read(const char *path, size_t most, size_t *size);
char *plain_file_read_named(const char *path, size_t most, size_t *size);

/* Returns a text for such an errno, to stand behind the path and a colon. */
const char *plain_file_problem(int err);

#endif
