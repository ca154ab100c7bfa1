/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "recordings.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "find_files.h"
#include "log.h"
#include "render/session.h"

#define NAMED_MAX 8
#define ROOTS_MAX 1000 /* no more are counted */
#define ENOUGH    1

/*
 * A directory at which a recording begins, and the sides found below it; with session.json it has
 * both.
 */
struct root {
	char *path;
	bool has_session, app, kernel;
};

struct roots {
	struct root *v;
	size_t n;
	bool want_sessions;
};

static bool ends_in(const char *path, size_t len, const char *name)
{
	size_t n = strlen(name);

	return len > n && path[len - n - 1] == '/' && memcmp(path + len - n, name, n) == 0;
}

/* Returns the length of `path` without a part number at its end: 0001, 0002. */
static size_t without_part(const char *path, size_t len)
{
	size_t at = len;

	while (at && isdigit((unsigned char)path[at - 1]))
		at--;
	return len - at >= 4 && at > 1 && path[at - 1] == '/' ? at - 1 : len;
}

/* Returns the directory that holds both sides of a trace without session.json. */
static struct root root_of(const char *dir)
{
	const char *ust = strstr(dir, "/ust/"); /* LTTng's layout */
	size_t len = without_part(dir, ust ? (size_t)(ust - dir) : strlen(dir));
	struct root r = {.app = ust || ends_in(dir, len, "app")};

	r.kernel = !r.app;
	if (!ust && (ends_in(dir, len, "app") || ends_in(dir, len, "kernel")))
		len -= r.app ? strlen("/app") : strlen("/kernel");
	r.path = strndup(dir, len);
	return r;
}

static bool is_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);

	return strncmp(path, dir, len) == 0 && (path[len] == '/' || !path[len]);
}

static bool is_known(struct roots *all, const struct root *r)
{
	for (size_t i = 0; i < all->n; i++) {
		struct root *old = &all->v[i];

		if (!r->has_session && old->has_session && is_below(r->path, old->path))
			return true;
		if (strcmp(old->path, r->path) == 0) {
			old->app |= r->app;
			old->kernel |= r->kernel;
			return true;
		}
	}
	return false;
}

static int look(void *arg, const char *dir, const char *name)
{
	struct roots *all = arg;
	struct root r, *more;

	if (strcmp(name, all->want_sessions ? "session.json" : "metadata") != 0)
		return 0;
	r = all->want_sessions ? (struct root){strdup(dir), true, true, true} : root_of(dir);
	if (!r.path)
		return -ENOMEM;
	if (is_known(all, &r)) {
		free(r.path);
		return 0;
	}
	more = all->n < ROOTS_MAX ? realloc(all->v, (all->n + 1) * sizeof(*more)) : NULL;
	if (!more) {
		free(r.path);
		return all->n < ROOTS_MAX ? -ENOMEM : ENOUGH;
	}
	all->v = more;
	all->v[all->n++] = r;
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return strverscmp(((const struct root *)a)->path, ((const struct root *)b)->path);
}

static void roots_free(struct roots *all)
{
	for (size_t i = 0; i < all->n; i++)
		free(all->v[i].path);
	free(all->v);
}

/*
 * Finds recordings below a directory: first those with session.json, to which all traces below
 * belong.
 */
static int roots_find(struct roots *all, const char *dir)
{
	int err = 0;

	memset(all, 0, sizeof(*all));
	for (int pass = 0; pass < 2 && !err; pass++) {
		struct file_search search = {.found = look, .arg = all};

		all->want_sessions = pass == 0;
		err = files_find(&search, dir);
	}
	if (all->n)
		qsort(all->v, all->n, sizeof(*all->v), by_path);
	return err;
}

/*
 * Returns whether all make one recording: one may have the application side and another the kernel
 * side.
 */
static bool are_one(const struct roots *all)
{
	size_t app = 0, kernel = 0;

	for (size_t i = 0; i < all->n; i++) {
		app += all->v[i].app;
		kernel += all->v[i].kernel;
	}
	return all->n < 2 || (app < 2 && kernel < 2);
}

static void say(const char *dir, const struct roots *all)
{
	char names[1024] = "";
	size_t used = 0, top = strlen(dir);

	while (top > 1 && dir[top - 1] == '/')
		top--;
	for (size_t i = 0; i < all->n && i < NAMED_MAX; i++) {
		const char *path = all->v[i].path;
		const char *name = strlen(path) > top ? path + top + (path[top] == '/') : ".";

		used += (size_t)snprintf(
			names + used, sizeof(names) - used, "%s%.100s", i ? ", " : "", name);
	}
	if (all->n > NAMED_MAX)
		snprintf(names + used, sizeof(names) - used, " and %zu more", all->n - NAMED_MAX);
	mg_error("%s holds %s%zu recordings: %s; give one, or compare them with --against", dir,
		all->n < ROOTS_MAX ? "" : "at least ", all->n, names);
}

bool holds_one_recording(const char *dir)
{
	struct roots all;
	int err = roots_find(&all, dir);
	bool one = (err && err != ENOUGH) || are_one(&all);

	if (!one)
		say(dir, &all);
	else if (err == -E2BIG || err == -ENAMETOOLONG) {
		mg_error("%s: %s", dir, files_find_problem(-err));
		one = false;
	}
	roots_free(&all);
	return one;
}

/* Adds a copy of a path to the list. Returns 0 or -ENOMEM after a message. */
static int add_path(struct recording_paths *to, const char *path)
{
	char **more = mg_realloc(to->path, (to->count + 1) * sizeof(*more));

	if (more)
		to->path = more;
	if (!more || !(more[to->count] = strdup(path))) {
		mg_error("%s", strerror(ENOMEM));
		return -ENOMEM;
	}
	to->count++;
	return 0;
}

int recordings_add(struct recording_paths *to, const char *dir)
{
	struct roots all;
	int err = roots_find(&all, dir);
	bool several = !are_one(&all);

	for (size_t i = 0; several && i < all.n; i++)
		several = all.v[i].has_session;
	/* any other directory is checked when it is read */
	if ((err && err != ENOUGH) || !several)
		err = add_path(to, dir);
	else if (all.n == ROOTS_MAX)
		err = -E2BIG;
	else
		err = 0;
	for (size_t i = 0; several && i < all.n && !err; i++)
		err = add_path(to, all.v[i].path);
	if (err == -E2BIG)
		mg_error("%s holds %d recordings or more: give fewer", dir, ROOTS_MAX);
	roots_free(&all);
	return err;
}

void recordings_free(struct recording_paths *paths)
{
	for (size_t i = 0; i < paths->count; i++)
		free(paths->path[i]);
	free(paths->path);
}

/* When a recording was made. */
struct made {
	json_int_t start, stop; /* CLOCK_MONOTONIC */
	char boot[64];          /* "": not known */
};

/* Reads when a recording was made. Returns false if that is not known. */
static bool read_times(const char *dir, struct made *m)
{
	char path[PATH_MAX], why[1024];
	const char *boot;
	json_t *session = session_path(dir, path, sizeof(path))
				  ? session_load(path, false, why, sizeof(why))
				  : NULL;

	m->start = json_integer_value(json_object_get(session, "start_ns"));
	m->stop = json_integer_value(json_object_get(session, "stop_ns"));
	boot = json_string_value(json_object_get(session, "boot_id"));
	snprintf(m->boot, sizeof(m->boot), "%s", boot ? boot : "");
	json_decref(session);
	return m->start > 0 && m->stop >= m->start;
}

bool recordings_are_apart(const char *a, const char *b)
{
	struct made x, y;

	if (!read_times(a, &x) || !read_times(b, &y))
		return false;
	if (x.boot[0] && y.boot[0] && strcmp(x.boot, y.boot) != 0) /* each has a clock of its own */
		return true;
	return x.start > y.stop || y.start > x.stop;
}

bool session_path(const char *dir, char *path, size_t size)
{
	struct roots all;
	bool is_there;

	snprintf(path, size, "%.4000s/session.json", dir);
	if (access(path, R_OK) == 0)
		return true;
	if (roots_find(&all, dir) == 0 && all.n == 1 && all.v[0].has_session)
		snprintf(path, size, "%.4000s/session.json", all.v[0].path);
	is_there = access(path, F_OK) == 0; /* one that cannot be read is told when it is */
	roots_free(&all);
	return is_there;
}
