/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "traces.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "find_files.h"

struct paths {
	char **v;
	size_t n, cap;
};

struct finding {
	struct paths described, with_streams;
};

static int add(struct paths *p, const char *path)
{
	if (p->n == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 16;
		char **more = mg_realloc(p->v, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->v = more;
		p->cap = cap;
	}
	p->v[p->n] = mg_strdup(path);
	return p->v[p->n] ? (p->n++, 0) : -ENOMEM;
}

/* Returns whether a name is one that common/ctf_writer.c gives a stream. */
static bool is_own_stream(const char *name)
{
	const char *number = strncmp(name, "cpu", 3) == 0      ? name + 3
			     : strncmp(name, "events", 6) == 0 ? name + 6
							       : NULL;

	if (!number)
		return strcmp(name, "calls") == 0 || strcmp(name, "tracer") == 0;
	return *number && strspn(number, "0123456789") == strlen(number);
}

static int look(void *arg, const char *dir, const char *name)
{
	struct finding *f = arg;
	struct paths *p = &f->with_streams;

	if (strcmp(name, "metadata") == 0)
		return f->described.n < TRACES_MAX ? add(&f->described, dir) : -EMLINK;
	if (!is_own_stream(name) || (p->n && strcmp(p->v[p->n - 1], dir) == 0))
		return 0;
	return p->n < TRACES_MAX ? add(p, dir) : -EMLINK;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort(struct paths *p)
{
	if (p->n)
		qsort(p->v, p->n, sizeof(*p->v), by_name);
}

static void free_paths(struct paths *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->v[i]);
	free(p->v);
}

/* Returns the first directory that has streams but no metadata. */
static const char *undescribed(const struct finding *f)
{
	const struct paths *d = &f->described, *s = &f->with_streams;

	for (size_t i = 0; i < s->n; i++)
		if (!d->n || !bsearch(&s->v[i], d->v, d->n, sizeof(*d->v), by_name))
			return s->v[i];
	return NULL;
}

int mg_traces_find(struct mg_traces *t, const char *const dirs[], int count)
{
	struct finding f = {0};
	const char *lacks;
	int err = 0;

	memset(t, 0, sizeof(*t));
	for (int i = 0; i < count && !err; i++) {
		struct file_search search = {.found = look, .arg = &f};

		err = files_find(&search, dirs[i]);
		if (search.link[0] && !t->link)
			t->link = mg_strdup(search.link);
		if (search.unreadable[0] && !t->unreadable)
			t->unreadable = mg_strdup(search.unreadable);
	}
	sort(&f.described);
	sort(&f.with_streams);
	lacks = undescribed(&f);
	t->undescribed = lacks ? mg_strdup(lacks) : NULL;
	free_paths(&f.with_streams);
	t->path = f.described.v;
	t->count = f.described.n;
	return err;
}

void mg_traces_free(struct mg_traces *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->path[i]);
	free(t->path);
	free(t->undescribed);
	free(t->link);
	free(t->unreadable);
	memset(t, 0, sizeof(*t));
}

const char *mg_traces_problem(int err)
{
	return err == EMLINK ? "there are more than 4,096 traces in it: name some of its parts"
			     : files_find_problem(err);
}
