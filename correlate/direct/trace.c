/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "trace.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "plain_file.h"
#include "read/metadata.h"

const char *trace_open_memory(struct trace *t, const char *metadata, size_t size)
{
	const char *why;

	memset(t, 0, sizeof(*t));
	why = layout_make(&t->layout, metadata, size);
	t->offset_ns = t->layout.tsdl.offset_ns;
	return why;
}

struct stream *trace_add(struct trace *t, char *path)
{
	struct stream *more = mg_realloc(t->stream, (t->streams + 1) * sizeof(*more));

	if (!more) {
		free(path);
		return NULL;
	}
	t->stream = more;
	more[t->streams] = (struct stream){.path = path, .fd = -1};
	return &more[t->streams++];
}

const char *trace_describe(struct trace *t, const char *dir)
{
	const char *why = "no metadata that can be read";
	char path[PATH_MAX], *text;
	size_t size = 0;

	memset(t, 0, sizeof(*t));
	snprintf(path, sizeof(path), "%.4000s/metadata", dir);
	text = plain_file_read(path, METADATA_MAX, &size);
	if (!text && errno == EMFILE)
		return stream_no_more_files;
	if (text)
		why = trace_open_memory(t, text, size);
	free(text);
	return why;
}

/* Adds a stream file. Skips hidden and empty files, as babeltrace2 does. */
static const char *add_file(struct trace *t, const char *dir, const char *name)
{
	struct stat st;
	char *path;

	if (name[0] == '.' || strcmp(name, "metadata") == 0)
		return NULL;
	if (asprintf(&path, "%s/%s", dir, name) < 0) {
		mg_memory_failed();
		return "no memory";
	}
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
		bool has_index = strcmp(name, "index") == 0;

		free(path);
		return has_index ? "it has indexes" : NULL;
	}
	return trace_add(t, path) ? NULL : "no memory";
}

const char *trace_align(struct trace *t, int64_t offset_ns)
{
	if (llabs(offset_ns - t->offset_ns) > 1000000000)
		return "the traces' clocks are far apart";
	t->offset_ns = offset_ns;
	return NULL;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct stream *)a)->path, ((const struct stream *)b)->path);
}

const char *trace_check(struct trace *t)
{
	const char *why = NULL;

	for (size_t i = 0; i < t->streams && !why; i++) {
		t->stream[i].layout = &t->layout;
		why = stream_check(&t->stream[i]);
	}
	return why;
}

const char *trace_open(struct trace *t, const char *dir)
{
	const char *why;
	struct dirent *e;
	DIR *d;

	why = trace_describe(t, dir);
	if (why)
		return why;
	d = mg_checked(opendir(dir));
	if (!d)
		return errno == EMFILE ? stream_no_more_files : strerror(errno);
	while (!why && (e = readdir(d)))
		why = add_file(t, dir, e->d_name);
	closedir(d);
	if (t->streams)
		qsort(t->stream, t->streams, sizeof(*t->stream), by_path);
	return why ? why : trace_check(t);
}

void trace_close(struct trace *t)
{
	for (size_t i = 0; i < t->streams; i++) {
		stream_close(&t->stream[i]);
		free(t->stream[i].path);
	}
	free(t->stream);
	layout_free(&t->layout);
	memset(t, 0, sizeof(*t));
}
