/* SPDX-License-Identifier: MIT */
#include "export/export.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool export_refuse(struct export *e, const char *path, int error)
{
	snprintf(e->why, sizeof(e->why), "%.400s: %s", path, strerror(error));
	return false;
}

/* Returns whether the directory has no entries; false also if it cannot be read. */
static bool is_empty(const char *path)
{
	DIR *d = opendir(path);
	const struct dirent *entry;
	bool empty = d;

	while (d && empty && (entry = readdir(d)))
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	if (d)
		closedir(d);
	return empty;
}

bool export_directory(struct export *e)
{
	struct stat st;

	if (strcmp(e->to, "-") == 0) {
		snprintf(e->why, sizeof(e->why),
			"standard output cannot be a directory: give -o a new one");
		return false;
	}
	if (mkdir(e->to, 0777) == 0)
		return true;
	if (errno != EEXIST)
		return export_refuse(e, e->to, errno);
	if (stat(e->to, &st) != 0)
		return export_refuse(e, e->to, errno);
	if (!S_ISDIR(st.st_mode))
		return export_refuse(e, e->to, ENOTDIR);
	if (is_empty(e->to))
		return true;
	snprintf(e->why, sizeof(e->why), "%.400s is not empty: give -o a new directory", e->to);
	return false;
}

void export_remove_directory(const struct export *e)
{
	rmdir(e->to);
}

bool export_takes(const struct export *e, enum fact kind, const void *fact)
{
	return !e->filter || filter_lacks(e->filter, kind) ||
	       filter_takes_fact(e->filter, e->core, kind, fact);
}
