/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns whether the path is that of something else than a regular file that is to be made. */
static bool is_special(const char *path, struct stat *st)
{
	return stat(path, st) == 0 && !S_ISREG(st->st_mode);
}

static bool open_special(struct output_file *f, const struct stat *st)
{
	if (S_ISDIR(st->st_mode)) {
		errno = EISDIR;
		return false;
	}
	f->to = fopen(f->path, "wbe");
	return f->to;
}

bool output_file_open(struct output_file *f, const char *path)
{
	struct stat st;
	int fd, err;

	memset(f, 0, sizeof(*f));
	f->path = path;
	if (strcmp(path, "-") == 0) {
		f->to = stdout;
		return true;
	}
	if (is_special(path, &st))
		return open_special(f, &st);
	if (snprintf(f->temporary, sizeof(f->temporary), "%s.XXXXXX", path) >=
		(int)sizeof(f->temporary)) {
		errno = ENAMETOOLONG;
		return false;
	}
	fd = mkostemp(f->temporary, O_CLOEXEC); /* for its owner alone, as recordings are */
	f->to = fd < 0 ? NULL : fdopen(fd, "wb");
	if (f->to || fd < 0)
		return f->to;
	err = errno;
	close(fd);
	unlink(f->temporary);
	errno = err;
	return false;
}

bool output_file_close(struct output_file *f, bool keep)
{
	bool good = fflush(f->to) == 0 && !ferror(f->to);
	int err = errno;

	if (f->to != stdout && fclose(f->to) != 0 && good) {
		good = false;
		err = errno;
	}
	if (good && keep && f->temporary[0] && rename(f->temporary, f->path) != 0) {
		good = false;
		err = errno;
	}
	if (f->temporary[0] && !(good && keep))
		unlink(f->temporary);
	errno = err;
	return good;
}
