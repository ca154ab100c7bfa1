/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "find_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"

static int look_through(struct file_search *s, int fd, char *path, unsigned int depth);

static mode_t kind_of(int dir, const struct dirent *e)
{
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return DTTOIF(e->d_type);
	return fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 ? st.st_mode & S_IFMT : 0;
}

static int note_link(struct file_search *s, const char *dir, const char *name)
{
	if (!s->link[0])
		snprintf(s->link, sizeof(s->link), "%.3800s/%.255s", dir, name);
	return 0;
}

/* Returns whether a link is one that leads to the output of an LTTng session. */
static bool is_session(const struct file_search *s, const char *path, const char *name)
{
	const char *last = strrchr(path, '/');

	return !s->in_link &&
	       (strcmp(name, "app") == 0 || strcmp(last ? last + 1 : path, "app") == 0);
}

static int enter(struct file_search *s, int dir, char *path, const char *name, unsigned int depth,
	int no_link)
{
	size_t len = strlen(path), more = strlen(name) + 2;
	int fd, err;

	if (depth == FIND_DEPTH || len + more > PATH_MAX)
		return -ENAMETOOLONG;
	fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | no_link);
	if (fd < 0 && errno == EACCES && !s->unreadable[0])
		snprintf(s->unreadable, sizeof(s->unreadable), "%.3800s/%.255s", path, name);
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE ? -EMFILE : 0;
	snprintf(path + len, PATH_MAX - len, "/%s", name);
	err = look_through(s, fd, path, depth + 1);
	path[len] = 0;
	return err;
}

static int enter_session(
	struct file_search *s, int dir, char *path, const char *name, unsigned int depth)
{
	struct stat st;
	int err;

	if (fstatat(dir, name, &st, 0) != 0 || !S_ISDIR(st.st_mode))
		return note_link(s, path, name);
	s->in_link = true;
	err = enter(s, dir, path, name, depth, 0);
	s->in_link = false;
	return err;
}

static int entry(
	struct file_search *s, DIR *d, const struct dirent *e, char *path, unsigned int depth)
{
	const char *name = e->d_name;

	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return 0;
	if (++s->entries > FIND_ENTRIES)
		return -E2BIG;
	switch (kind_of(dirfd(d), e)) {
	case S_IFREG:
		return s->found(s->arg, path, name);
	case S_IFDIR:
		return enter(s, dirfd(d), path, name, depth, O_NOFOLLOW);
	case S_IFLNK:
		return is_session(s, path, name) ? enter_session(s, dirfd(d), path, name, depth)
						 : note_link(s, path, name);
	default:
		return 0;
	}
}

/* `fd` is taken over. */
static int look_through(struct file_search *s, int fd, char *path, unsigned int depth)
{
	DIR *d = mg_checked(fdopendir(fd));
	struct dirent *e;
	int err = 0;

	if (!d) {
		close(fd);
		return -ENOMEM;
	}
	while (!err && (e = readdir(d)))
		err = entry(s, d, e, path, depth);
	closedir(d);
	return err;
}

int files_find(struct file_search *s, const char *top)
{
	int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char path[PATH_MAX];
	size_t len = strlen(top);

	if (fd < 0)
		return -errno;
	while (len > 1 && top[len - 1] == '/')
		len--;
	snprintf(path, sizeof(path), "%.*s", (int)len, len == 1 && *top == '/' ? "" : top);
	return look_through(s, fd, path, 0);
}

const char *files_find_problem(int err)
{
	switch (err) {
	case E2BIG:
		return "there are more than 1,000,000 files in it: name a recording's directory";
	case ENAMETOOLONG:
		return "directories in it are more than 32 deep: name a recording's directory";
	case EMFILE:
		return "the limit on open files is reached: raise it (ulimit -n), and try again";
	default:
		return strerror(err);
	}
}
