/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "record_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "log.h"
#include "trace_files.h"

#define SIDE_DEPTH 8 /* directories within each other, those of LTTng included */

/* Makes magnet-COMMAND-TIME, with a number behind it if several begin in one second. */
static int make_default(struct record_dir *d, const struct record_options *o)
{
	const char *name = o->command ? strrchr(o->command[0], '/') : NULL;
	time_t now = time(NULL);
	char stamp[32];
	int made = -1;

	name = name ? name + 1 : o->command ? o->command[0] : o->given.all ? "all" : "pid";
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime(&now));
	d->dir = d->made_up;
	snprintf(d->made_up, sizeof(d->made_up), "magnet-%.64s-%s", name, stamp);
	for (int i = 2; (made = mkdir(d->dir, 0700)) != 0 && errno == EEXIST && i < 1000; i++)
		snprintf(d->made_up, sizeof(d->made_up), "magnet-%.64s-%s-%d", name, stamp, i);
	return made;
}

/*
 * Returns whether the directory is the user's: else somebody could put links where the trace's
 * files will be.
 */
static bool is_ours(const char *dir)
{
	const char *invoker = getenv("SUDO_UID");
	struct stat st;

	if (stat(dir, &st) != 0)
		return false;
	return st.st_uid == geteuid() ||
	       (geteuid() == 0 && invoker && st.st_uid == (uid_t)strtoul(invoker, NULL, 10));
}

static const char *why_no_dir(const char *dir)
{
	struct stat st;

	if (errno != EEXIST)
		return strerror(errno);
	if (lstat(dir, &st) == 0 && S_ISLNK(st.st_mode))
		return "it is a link: name the directory it leads to";
	if (lstat(dir, &st) == 0 && !S_ISDIR(st.st_mode))
		return "it exists and is no directory";
	if (!dir_is_empty(dir))
		return "it exists and is not empty";
	return is_ours(dir) ? NULL : "it exists and belongs to somebody else";
}

/* Makes the directory, or takes an empty one. Returns NULL, or why that cannot be. */
static const char *make_or_take(struct record_dir *d, const struct record_options *o)
{
	const char *why = NULL;

	d->dir = o->given.output;
	if ((d->dir ? mkdir(d->dir, 0700) : make_default(d, o)) != 0) {
		why = why_no_dir(d->dir);
		d->was_there = true;
	}
	if (!why && chmod(d->dir, 0700) != 0)
		why = strerror(errno);
	return why;
}

static int made(const struct record_dir *d, const char *why)
{
	if (why)
		mg_error("cannot make the trace directory %s: %s", d->dir, why);
	return why ? -1 : 0;
}

int record_dir_make_top(struct record_dir *d, const struct record_options *o)
{
	return made(d, make_or_take(d, o));
}

int record_dir_make(struct record_dir *d, const struct record_options *o)
{
	char resolved[PATH_MAX], claim[PATH_MAX];
	const char *why = make_or_take(d, o);
	int fd;

	if (!why && !realpath(d->dir, resolved))
		why = strerror(errno);
	if (!why && (snprintf(d->app, PATH_MAX, "%s/app", resolved) >= PATH_MAX ||
			    snprintf(d->kernel, PATH_MAX, "%s/kernel", resolved) >= PATH_MAX))
		why = "the path is too long";
	if (!why) { /* claim it: another recording may have found it empty at the same time */
		snprintf(claim, sizeof(claim), "%.4000s/session.json", resolved);
		fd = open(claim, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		if (fd < 0)
			why = strerror(errno);
		else
			close(fd);
	}
	return made(d, why);
}

/* Removes a trace that was not completed, and its parts. */
static void remove_tree(int at, const char *name, int depth)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *e;

	while (d && (e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, e->d_name, 0) != 0 && depth > 0)
			remove_tree(fd, e->d_name, depth - 1);
	}
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	unlinkat(at, name, AT_REMOVEDIR);
}

void record_dir_remove_side(const char *dir)
{
	remove_tree(AT_FDCWD, dir, SIDE_DEPTH);
}

void record_dir_remove_tree(const char *dir, int depth)
{
	remove_tree(AT_FDCWD, dir, depth);
}

void record_dir_remove(const struct record_dir *d)
{
	char claim[PATH_MAX];

	snprintf(claim, sizeof(claim), "%.4000s/session.json", d->dir);
	unlink(claim);
	record_dir_remove_side(d->app);
	record_dir_remove_side(d->kernel);
	if (!d->was_there)
		rmdir(d->dir);
}
