/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "inspect.h"

#include <babeltrace2/babeltrace.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "format.h"
#include "metadata.h"
#include "plain_file.h"

#define FILES_MAX 16384 /* files of one trace */
#define HEAD      76    /* bytes with which no two streams begin alike: times, sizes, a number */

/* The first bytes of a stream, and its path. */
struct head {
	uint8_t bytes[HEAD];
	bool is_own; /* whether magnet wrote the trace */
	char *path;
};

/* Identity of one of magnet's traces, or of a metadata file. */
struct identity {
	char uuid[37];
	dev_t device;
	ino_t inode;
	const char *path;
	bool is_own, is_app, has_other_side; /* as its metadata says */
	dev_t place_device; /* the directory of the recording that it is a side of */
	ino_t place;
};

struct inspection {
	const struct mg_traces *t;
	struct core *core;
	struct head *heads;
	size_t n, cap;
	struct identity *identity;
	char *why;
	size_t why_size;
};

static int refuse(struct inspection *in, const char *path, const char *what)
{
	snprintf(in->why, in->why_size, "%.700s: %s", path, what);
	return -EINVAL;
}

static int refuse_errno(struct inspection *in, const char *path, int err)
{
	refuse(in, path, plain_file_problem(err));
	return err == EMFILE ? -EMFILE : -EINVAL;
}

/* ---- files ---- */

static int keep_head(struct inspection *in, const char *path)
{
	uint64_t size = 0;
	struct head *h;
	int fd;

	if (in->n == in->cap) {
		size_t cap = in->cap ? in->cap * 2 : 64;

		h = mg_realloc(in->heads, cap * sizeof(*h));
		if (!h)
			return -ENOMEM;
		in->heads = h;
		in->cap = cap;
	}
	fd = plain_file_open(path, &size);
	if (fd < 0)
		return refuse_errno(in, path, -fd);
	h = &in->heads[in->n];
	/* a shorter file is damaged, and its reader reports it */
	if (size >= HEAD && pread(fd, h->bytes, HEAD, 0) == HEAD && (h->path = mg_strdup(path)))
		in->n++;
	close(fd);
	return 0;
}

/* Checks the index files: babeltrace2 opens them whatever they are, and would wait on a pipe. */
static int look_at_index(struct inspection *in, const char *dir)
{
	char path[PATH_MAX];
	struct dirent *e;
	int err = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%.3000s/index", dir);
	d = mg_checked(opendir(path));
	while (d && !err && (e = readdir(d))) {
		struct stat st;

		if (e->d_name[0] == '.' ||
			fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
			S_ISREG(st.st_mode))
			continue;
		snprintf(path, sizeof(path), "%.3000s/index/%s", dir, e->d_name);
		err = refuse(
			in, path, plain_file_problem(S_ISLNK(st.st_mode) ? ELOOP : EMEDIUMTYPE));
	}
	if (d)
		closedir(d);
	return err;
}

/*
 * Checks one file of a trace. Links to files count, as babeltrace2 would follow them; links to
 * anything else do not.
 */
static int look_at(
	struct inspection *in, int fd, const char *dir, const char *name, size_t *streams)
{
	struct stat st, target;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.3000s/%s", dir, name);
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return 0; /* removed meanwhile */
	if (S_ISLNK(st.st_mode)) {
		bool is_file = fstatat(fd, name, &target, 0) == 0 && S_ISREG(target.st_mode);

		return is_file || strcmp(name, "index") == 0
			       ? refuse(in, path, plain_file_problem(ELOOP))
			       : 0;
	}
	if (S_ISDIR(st.st_mode))
		return strcmp(name, "index") == 0 ? look_at_index(in, dir) : 0;
	if (!S_ISREG(st.st_mode) || name[0] == '.' || !st.st_size || strcmp(name, "metadata") == 0)
		return 0;
	++*streams;
	return keep_head(in, path);
}

static int look_at_files(struct inspection *in, const char *dir, size_t *streams)
{
	DIR *d = mg_checked(opendir(dir));
	struct dirent *e;
	size_t files = 0;
	int err = 0;

	if (!d)
		return refuse_errno(in, dir, errno);
	while (!err && (e = readdir(d)))
		err = ++files > FILES_MAX
			      ? refuse(in, dir, "there are more than 16,384 files in it")
			      : look_at(in, dirfd(d), dir, e->d_name, streams);
	closedir(d);
	return err;
}

/* ---- traces ---- */

/* Removes the last name of a path. */
static void go_up(char *path)
{
	size_t n = strlen(path);

	while (n && path[n - 1] == '/')
		n--;
	while (n && path[n - 1] != '/')
		n--;
	while (n > 1 && path[n - 1] == '/')
		n--;
	path[n] = 0;
}

static bool is_side(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return strcmp(name, "app") == 0 || strcmp(name, "kernel") == 0;
}

/* Finds the directory that has a trace and that of the other side: the trace may be one of parts.
 */
static void find_place(struct identity *id)
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%.4000s", id->path);
	go_up(path);
	if (is_side(path))
		go_up(path);
	if (stat(path[0] ? path : ".", &st) != 0)
		return;
	id->place_device = st.st_dev;
	id->place = st.st_ino;
}

static int look_at_trace(struct inspection *in, size_t number)
{
	struct identity *id = &in->identity[number];
	const char *dir = in->t->path[number];
	size_t before = in->n, streams = 0, size = 0;
	struct metadata_facts facts;
	char path[PATH_MAX], *text;
	struct stat st;
	int err = 0;

	errno = 0;
	text = metadata_text(dir, &size, in->why, in->why_size);
	if (!text)
		return errno == EMFILE ? -EMFILE : -EINVAL;
	snprintf(path, sizeof(path), "%.4000s/metadata", dir);
	if (stat(path, &st) == 0)
		*id = (struct identity){.device = st.st_dev, .inode = st.st_ino};
	id->path = dir;
	find_place(id);
	if (metadata_is_ctf2(text, size) &&
		!ctf2_is_read(bt_version_get_major(), bt_version_get_minor(), dir, in->why,
			in->why_size)) {
		free(text);
		return -EINVAL;
	}
	metadata_look(&facts, text);
	id->is_own = facts.is_own;
	id->is_app = facts.is_app;
	id->has_other_side = facts.has_other_side;
	if (metadata_is_too_deep(text, size))
		err = refuse(
			in, path, "blocks in it are deeper within each other than any tracer's");
	free(text);
	if (!err && facts.is_own &&
		!trace_format_is_read(facts.format, dir, facts.version, in->why, in->why_size))
		err = -EINVAL;
	if (!err)
		err = look_at_files(in, dir, &streams);
	if (err)
		return err;
	if (facts.is_own && facts.has_uuid)
		memcpy(id->uuid, facts.uuid, sizeof(id->uuid));
	if (facts.tells_contents)
		core_expect_contents(in->core, facts.is_app ? CORE_APP : CORE_KERNEL);
	if (facts.has_other_side)
		core_expect_side(in->core, facts.is_app ? CORE_KERNEL : CORE_APP);
	for (size_t i = before; i < in->n; i++)
		in->heads[i].is_own = facts.is_own;
	/* the starts of other tracers' streams may be short and alike */
	for (size_t i = before; !facts.is_own && !facts.is_lttng && i < in->n; i++)
		free(in->heads[i].path);
	if (!facts.is_own && !facts.is_lttng)
		in->n = before;
	return 0;
}

/* ---- copies ---- */

static int by_bytes(const void *a, const void *b)
{
	const struct head *x = a, *y = b;

	return x->is_own != y->is_own ? x->is_own - y->is_own : memcmp(x->bytes, y->bytes, HEAD);
}

static int by_inode(const void *a, const void *b)
{
	const struct identity *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static int by_uuid(const void *a, const void *b)
{
	return strcmp(((const struct identity *)a)->uuid, ((const struct identity *)b)->uuid);
}

static int refuse_copies(struct inspection *in, const char *one, const char *other)
{
	if (strcmp(one, other) == 0)
		snprintf(in->why, in->why_size, "%.300s is given twice: leave one out", one);
	else
		snprintf(in->why, in->why_size,
			"%.300s and %.300s are copies of one recording, or of a part of it: give "
			"one of them",
			one, other);
	return -EINVAL;
}

#define SNAPSHOT "/snapshot-" /* LTTng's names of their directories begin so */

/*
 * Returns whether they are of two snapshots of a session: these overlap, and calls in both count
 * once.
 */
static bool are_snapshots(const struct head *a, const struct head *b)
{
	const char *one = strstr(a->path, SNAPSHOT), *other = strstr(b->path, SNAPSHOT);
	size_t n = one ? strcspn(one + 1, "/") : 0;

	return !a->is_own && !b->is_own && one && other &&
	       (strcspn(other + 1, "/") != n || strncmp(one + 1, other + 1, n) != 0);
}

/* Refuses a recording that holds one trace twice, as its events would count twice. */
static int look_for_copies(struct inspection *in)
{
	struct identity *id = in->identity;
	size_t n = in->t->count;

	qsort(id, n, sizeof(*id), by_inode);
	for (size_t i = 1; i < n; i++)
		if (id[i].inode && by_inode(&id[i - 1], &id[i]) == 0)
			return refuse_copies(in, id[i - 1].path, id[i].path);
	qsort(id, n, sizeof(*id), by_uuid);
	for (size_t i = 1; i < n; i++)
		if (id[i].uuid[0] && by_uuid(&id[i - 1], &id[i]) == 0)
			return refuse_copies(in, id[i - 1].path, id[i].path);
	if (in->n)
		qsort(in->heads, in->n, sizeof(*in->heads), by_bytes);
	for (size_t i = 1; i < in->n; i++)
		if (by_bytes(&in->heads[i - 1], &in->heads[i]) == 0 &&
			!are_snapshots(&in->heads[i - 1], &in->heads[i]))
			return refuse_copies(in, in->heads[i - 1].path, in->heads[i].path);
	return 0;
}

/* ---- sides ---- */

/* Counts the recordings that have a side, or only those where it says that there is the other. */
static size_t count_places(const struct inspection *in, bool app, bool with_other_side)
{
	const struct identity *id = in->identity;
	size_t count = 0, before;

	for (size_t i = 0; i < in->t->count; i++) {
		if (!id[i].is_own || id[i].is_app != app ||
			(with_other_side && !id[i].has_other_side))
			continue;
		for (before = 0; before < i; before++)
			if (id[before].is_own && id[before].is_app == app &&
				(!with_other_side || id[before].has_other_side) &&
				id[before].place == id[i].place &&
				id[before].place_device == id[i].place_device)
				break;
		count += before == i;
	}
	return count;
}

/*
 * Looks for a side that is gone of one of several recordings, while others have theirs. The
 * recordings are counted only, since a side may have been moved.
 */
static void look_for_sides(const struct inspection *in)
{
	for (int app = 0; app < 2; app++)
		if (count_places(in, !app, true) > count_places(in, app, false))
			core_miss_side(in->core, app ? CORE_APP : CORE_KERNEL);
}

int traces_inspect(const struct mg_traces *t, struct core *core, char *why, size_t why_size)
{
	struct inspection in = {.t = t, .core = core, .why = why, .why_size = why_size};
	int err = 0;

	if (t->undescribed)
		core_know_undescribed(core, t->undescribed);
	in.identity = mg_calloc(t->count + 1, sizeof(*in.identity));
	if (!in.identity)
		return -ENOMEM;
	for (size_t i = 0; i < t->count && !err; i++)
		err = look_at_trace(&in, i);
	if (!err)
		look_for_sides(&in);
	if (!err)
		err = look_for_copies(&in);
	for (size_t i = 0; i < in.n; i++)
		free(in.heads[i].path);
	free(in.heads);
	free(in.identity);
	return err;
}
