/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "pool_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "process_limits.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8u
#endif

int pool_file_make(struct pool_file *f, const char *name, uint64_t size, char *why, size_t why_size)
{
	char hint[64];
	int err = 0;

	f->memory = NULL;
	f->size = size;
	f->fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
	if (f->fd < 0 && errno == EINVAL) /* before Linux 6.3 */
		f->fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (f->fd < 0 || ftruncate(f->fd, (off_t)size) != 0 ||
		fcntl(f->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
		err = -errno;
		snprintf(why, why_size, "no memory can be shared with programs: %s%s",
			strerror(errno), mg_limit_hint(err, hint, sizeof(hint)));
		pool_file_free(f);
		return err;
	}
	f->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, f->fd, 0);
	if (f->memory == MAP_FAILED) {
		err = -errno;
		snprintf(why, why_size, "buffers for programs cannot be mapped: %s%s",
			strerror(errno), mg_limit_hint(err, hint, sizeof(hint)));
		f->memory = NULL;
		pool_file_free(f);
	}
	return err;
}

void pool_file_free(struct pool_file *f)
{
	if (f->memory)
		munmap(f->memory, f->size);
	f->memory = NULL;
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

bool pool_file_place(struct pool_file *f, int number)
{
	if (f->fd == number)
		return true;
	if (dup3(f->fd, number, O_CLOEXEC) != number)
		return false;
	close(f->fd);
	f->fd = number;
	return true;
}

bool pool_file_put_aside(struct pool_file *f)
{
	int fd = fcntl(f->fd, F_DUPFD_CLOEXEC, 0);

	if (fd < 0)
		return false;
	f->fd = fd;
	return true;
}

static int open_by_proc(const struct pool_file *f, int flags)
{
	char path[40];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", f->fd);
	return open(path, flags | O_CLOEXEC);
}

int pool_file_open_again(const struct pool_file *f)
{
	return open_by_proc(f, O_RDWR);
}

/*
 * A lease for reading is refused while anybody has the file open for writing; a mapping keeps it
 * open. The descriptor that memfd_create() returns does not count.
 */
bool pool_file_is_left(const struct pool_file *f)
{
	int fd = open_by_proc(f, O_RDONLY);
	bool left = fd >= 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0;

	if (left)
		fcntl(fd, F_SETLEASE, F_UNLCK);
	if (fd >= 0)
		close(fd);
	return left;
}
