/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "plain_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"

static int open_plain(const char *path, int flags, uint64_t *size)
{
	/* finds it without opening it: to open a device may have an effect */
	int found = open(path, O_PATH | O_CLOEXEC | flags), fd = -1;
	char by_number[40];
	struct stat st;
	int err = 0;

	if (found < 0)
		return -errno;
	if (fstat(found, &st) != 0)
		err = -errno;
	else if (S_ISLNK(st.st_mode))
		err = -ELOOP;
	else if (!S_ISREG(st.st_mode))
		err = -EMEDIUMTYPE;
	if (!err) {
		snprintf(by_number, sizeof(by_number), "/proc/self/fd/%d", found);
		fd = open(by_number, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		err = fd < 0 ? -errno : 0;
	}
	close(found);
	if (err)
		return err;
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
