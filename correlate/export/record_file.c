/* SPDX-License-Identifier: MIT */
#include "export/record_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"

#define BUFFER (256u * 1024)

bool record_file_open(struct record_file *f, const char *dir, const char *name, uint32_t bytes)
{
	int n = snprintf(f->path, sizeof(f->path), "%s/%s.bin", dir, name);

	f->fd = -1;
	f->bytes = bytes;
	if (n < 0 || (size_t)n >= sizeof(f->path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	for (char *c = f->path + strlen(dir) + 1; c < f->path + n - 4; c++)
		if (!isalnum((unsigned char)*c))
			*c = '_';
	f->fd = open(f->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return f->fd >= 0;
}

static void flush(struct record_file *f)
{
	for (uint32_t at = 0; at < f->used && !f->error;) {
		ssize_t n = write(f->fd, f->buffer + at, f->used - at);

		if (n >= 0)
			at += (uint32_t)n;
		else if (errno != EINTR)
			f->error = errno;
	}
	f->used = 0;
}

uint8_t *record_file_next(struct record_file *f)
{
	uint8_t *at;

	if (!f->buffer)
		f->buffer = mg_malloc(BUFFER);
	if (!f->buffer)
		f->error = ENOMEM;
	if (f->used + f->bytes > BUFFER)
		flush(f);
	if (f->error)
		return NULL;
	at = f->buffer + f->used;
	f->used += f->bytes;
	f->rows++;
	return at;
}

bool record_file_finish(struct record_file *f)
{
	flush(f);
	errno = f->error;
	return !f->error;
}

void record_file_close(struct record_file *f, bool is_kept)
{
	if (f->path[0] && f->fd >= 0) {
		close(f->fd);
		if (!is_kept)
			unlink(f->path);
	}
	free(f->buffer);
	memset(f, 0, sizeof(*f));
	f->fd = -1;
}

const char *record_file_name(const struct record_file *f)
{
	return strrchr(f->path, '/') + 1;
}
