/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "scratch_dir.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log.h"

bool scratch_dir_make(char path[PATH_MAX])
{
	const char *in = getenv("TMPDIR");
	int n = snprintf(path, PATH_MAX, "%s/magnet-XXXXXX", in && *in ? in : "/var/tmp");

	if (n > 0 && n < PATH_MAX && mkdtemp(path))
		return true;
	mg_error("cannot make a directory %s: %s; TMPDIR names where", path, strerror(errno));
	return false;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st;
	(void)kind;
	(void)at;
	remove(path);
	return 0;
}

void scratch_dir_remove(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
