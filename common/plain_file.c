/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"

static int open_plain(const char *path, int flags, uint64_t *size)
{
	/* O_NONBLOCK: opening a pipe would wait for its other end; for a file it changes nothing */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | flags);
	struct stat st;
	int err = 0;

	if (fd < 0)
		return errno == ENXIO ? -EMEDIUMTYPE : -errno; /* a socket cannot be opened */
	if (fstat(fd, &st) != 0)
		err = -errno;
	else if (!S_ISREG(st.st_mode))
		err = -EMEDIUMTYPE;
	if (err) {
		close(fd);
		return err;
	}
	*size = (uint64_t)st.st_size;
	return fd;
}

int plain_file_open(const char *path, uint64_t *size)
{
	return open_plain(path, O_NOFOLLOW, size);
}

int plain_file_open_named(const char *path, uint64_t *size)
{
	return open_plain(path, 0, size);
}

/* Reads as many bytes as the file has, which may become shorter meanwhile. */
static ssize_t read_all(int fd, char *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = read(fd, to + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static char *read_plain(const char *path, int flags, size_t most, size_t *size)
{
	uint64_t there = 0;
	int fd = open_plain(path, flags, &there), err = 0;
	char *text = NULL;
	ssize_t n = -1;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	if (there > most)
		err = EFBIG;
	else if (!(text = mg_malloc((size_t)there + 1)))
		err = ENOMEM;
	else if ((n = read_all(fd, text, (size_t)there)) < 0)
		err = errno;
	close(fd);
	if (err) {
		free(text);
		errno = err;
		return NULL;
	}
	text[n] = 0;
	*size = (size_t)n;
	return text;
}

char *plain_file_read(const char *path, size_t most, size_t *size)
{
	return read_plain(path, O_NOFOLLOW, most, size);
}

char *plain_file_read_named(const char *path, size_t most, size_t *size)
{
	return read_plain(path, 0, most, size);
}

const char *plain_file_problem(int err)
{
	switch (err) {
	case ELOOP:
		return "a link, and links in a recording are not followed";
	case EMEDIUMTYPE:
		return "no regular file";
	case EFBIG:
		return "larger than any that magnet writes";
	case EMFILE:
		return "the limit on open files is reached: raise it (ulimit -n), and try again";
	default:
		return strerror(err);
	}
}
