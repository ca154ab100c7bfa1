/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "pool_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PREFIX  "magnet-rings-"
#define YOUNG_S 10 /* may not be locked yet */

static const char *const places[] = {"/dev/shm", "/tmp"};
#define PLACES (sizeof(places) / sizeof(places[0]))

static int make_in(struct pool_file *f, const char *place)
{
	uint64_t secret[2];
	size_t n;

	n = (size_t)snprintf(f->path, sizeof(f->path), "%s/" PREFIX "XXXXXX", place);
	/* passable, but not to be listed: the file's own name is the secret */
	if (!mkdtemp(f->path) || chmod(f->path, 0711) != 0)
		return -errno;
	if (getrandom(secret, sizeof(secret), 0) != sizeof(secret))
		return -EIO;
	snprintf(f->path + n, sizeof(f->path) - n, "/%016llx%016llx", (unsigned long long)secret[0],
		(unsigned long long)secret[1]);
	f->fd = open(f->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (f->fd < 0)
		return -errno;
	/* of any user: a program may give up its privileges, and run another */
	if (fchmod(f->fd, 0666) != 0 || flock(f->fd, LOCK_EX | LOCK_NB) != 0)
		return -errno;
	return 0;
}

int pool_file_make(struct pool_file *f, uint64_t size, uint64_t present, char *why, size_t why_size)
{
	int err = 0;

	f->memory = NULL;
	for (size_t i = 0; i < PLACES; i++) {
		f->fd = -1;
		err = make_in(f, places[i]);
		if (!err && ftruncate(f->fd, (off_t)size) != 0)
			err = -errno;
		if (!err)
			err = -posix_fallocate(f->fd, 0, (off_t)present);
		if (!err)
			break;
		snprintf(why, why_size, "no buffers in %s: %s", places[i], strerror(-err));
		pool_file_remove(f);
	}
	if (err)
		return err;
	f->memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, f->fd, 0);
	if (f->memory == MAP_FAILED) {
		err = -errno;
		snprintf(why, why_size, "%s cannot be mapped: %s", f->path, strerror(errno));
		f->memory = NULL;
		pool_file_remove(f);
		return err;
	}
	f->size = size;
	return 0;
}

void pool_file_remove(struct pool_file *f)
{
	char *slash;

	if (f->memory)
		munmap(f->memory, f->size);
	f->memory = NULL;
	if (f->fd >= 0) {
		unlink(f->path);
		close(f->fd);
	}
	f->fd = -1;
	slash = strrchr(f->path, '/');
	if (slash && strncmp(slash + 1, PREFIX, strlen(PREFIX)) != 0)
		*slash = 0;
	if (f->path[0])
		rmdir(f->path);
	f->path[0] = 0;
}

static void sweep_one(const char *directory)
{
	struct pool_file f = {.fd = -1};
	struct dirent *e;
	struct stat st;
	DIR *d;

	if (lstat(directory, &st) != 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
		time(NULL) - st.st_mtime < YOUNG_S)
		return;
	d = opendir(directory);
	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		if (snprintf(f.path, sizeof(f.path), "%s/%s", directory, e->d_name) >=
			(int)sizeof(f.path))
			continue;
		f.fd = open(f.path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
		if (f.fd >= 0 && flock(f.fd, LOCK_EX | LOCK_NB) == 0)
			pool_file_remove(&f);
		else if (f.fd >= 0)
			close(f.fd);
	}
	if (d)
		closedir(d);
}

void pool_file_sweep(void)
{
	for (size_t i = 0; i < PLACES; i++) {
		DIR *d = opendir(places[i]);
		struct dirent *e;
		char path[80];

		while (d && (e = readdir(d)))
			if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) == 0 &&
				snprintf(path, sizeof(path), "%s/%s", places[i], e->d_name) <
					(int)sizeof(path))
				sweep_one(path);
		if (d)
			closedir(d);
	}
}
