/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "app_session_parts.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Returns the number at the end of an archive's name, -1 if it is none. */
static int64_t number_of(const char *name)
{
	const char *dash = strrchr(name, '-');

	return isdigit((unsigned char)name[0]) && dash ? (int64_t)strtol(dash + 1, NULL, 10) : -1;
}

static DIR *open_archives(const char *output, char path[PATH_MAX])
{
	if (snprintf(path, PATH_MAX, "%s/archives", output) >= PATH_MAX) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	return opendir(path);
}

int64_t app_session_last_part(const char *output)
{
	char path[PATH_MAX];
	DIR *d = open_archives(output, path);
	int64_t last = -1, n;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		n = number_of(e->d_name);
		last = n > last ? n : last;
	}
	if (d)
		closedir(d);
	return last;
}

/* Links archive `name` as a part of this number. */
static int link_part(const char *archives, const char *name, const char *dir, int64_t number)
{
	char from[PATH_MAX], to[PATH_MAX];

	if (snprintf(from, sizeof(from), "%s/%s", archives, name) >= PATH_MAX ||
		snprintf(to, sizeof(to), "%s/%04lld", dir, (long long)number) >= PATH_MAX)
		return -ENAMETOOLONG;
	return symlink(from, to) == 0 ? 0 : -errno;
}

int app_session_link_parts(const char *output, int64_t first, const char *dir)
{
	char path[PATH_MAX];
	DIR *d;
	struct dirent *e;
	int err = 0;

	if (mkdir(dir, 0700) != 0 && errno != EEXIST)
		return -errno;
	d = open_archives(output, path);
	if (!d)
		return errno == ENOENT ? 0 : -errno; /* no program has registered */
	while (!err && (e = readdir(d)))
		if (number_of(e->d_name) >= first)
			err = link_part(path, e->d_name, dir, number_of(e->d_name) - first + 1);
	closedir(d);
	return err;
}
