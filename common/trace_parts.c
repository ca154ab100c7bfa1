/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trace_parts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"

static void part_path(const char *dir, uint32_t number, char *path, size_t size)
{
	snprintf(path, size, "%s/%04u", dir, number);
}

int trace_part_make(const char *dir, uint32_t number, char *path, size_t size)
{
	char name[PATH_MAX];
	int fd;

	part_path(dir, number, name, sizeof(name));
	if (mkdir(name, 0700) != 0) /* an existing one may be a link that somebody put there */
		return -errno;
	fd = open(name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	snprintf(path, size, "/proc/self/fd/%d", fd);
	return fd;
}

/* A part has files only, all of them ours, unless somebody put another one there. */
void trace_part_delete(const char *dir, uint32_t number)
{
	char name[PATH_MAX];
	struct dirent *e;
	struct stat st;
	DIR *d = NULL;
	int fd;

	part_path(dir, number, name, sizeof(name));
	fd = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &st) != 0 || st.st_uid != geteuid() || !(d = fdopendir(fd))))
		close(fd);
	if (!d)
		return;

	while ((e = readdir(d)))
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISREG(st.st_mode)) /* not all filesystems have the type in the entry */
			unlinkat(dirfd(d), e->d_name, 0);
	closedir(d);
	if (rmdir(name) != 0)
		mg_debug("%s: %s", name, strerror(errno));
}
