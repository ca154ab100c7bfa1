/* SPDX-License-Identifier: MIT */
#include "newest.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "log.h"
#include "printable.h"

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/*
 * Finds the directory whose session.json was written last: this one, or one in it. Returns whether
 * there is one.
 */
static bool find(char out[NAME_MAX + 1])
{
	struct timespec last = {0};
	DIR *here = opendir(".");
	struct dirent *e;

	out[0] = 0;
	while (here && (e = readdir(here))) {
		char path[NAME_MAX + sizeof("/session.json")];
		struct stat st;

		if (strcmp(e->d_name, "..") == 0)
			continue;
		snprintf(path, sizeof(path), "%s/session.json", e->d_name);
		if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || !is_later(&st.st_mtim, &last))
			continue;
		last = st.st_mtim;
		snprintf(out, NAME_MAX + 1, "%s", e->d_name);
	}
	if (here)
		closedir(here);
	return out[0];
}

int directories_choose(struct directories *d, int argc, char **argv, int first)
{
	static char name[NAME_MAX + 1];
	char plain[PATH_MAX];

	d->at = argv + first;
	d->count = argc - first;
	if (d->count)
		return 0;
	if (!find(name)) {
		mg_error("no trace directory given, and there is no recording in this directory");
		return -ENOENT;
	}
	if (strcmp(name, ".") != 0)
		fprintf(stderr, "magnet: newest recording: %s\n",
			mg_escape(plain, sizeof(plain), name));
	d->newest[0] = name;
	d->newest[1] = NULL;
	d->at = d->newest;
	d->count = 1;
	return 0;
}
