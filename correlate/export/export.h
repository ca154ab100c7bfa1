/* SPDX-License-Identifier: MIT */
/*
 * A format to which magnet export turns a recording. It listens to the core while the recording is
 * read, and writes what it hears: `begin` opens the output and registers the listeners, `end`
 * writes what is left and closes. Each format has a file of its own here, and a row in
 * cli/export.c.
 */
#ifndef MAGNET_CORRELATE_EXPORT_EXPORT_H
#define MAGNET_CORRELATE_EXPORT_EXPORT_H

#include <jansson.h>
#include <stdbool.h>

#include "core/contract.h"
#include "filter/filter.h"

struct export
{
	struct core *core;
	const struct filter *filter; /* NULL: all of the recording */
	const char *to;              /* the file or directory to write; "-": standard output */
	/* points to session.json once the first event comes; to NULL if there is none */
	json_t *const *session;
	void *state;   /* the format's own, made by `begin` */
	char why[512]; /* what went wrong */
};

struct export_format {
	const char *name, *doc;
	/*
	 * Return false with `why` set. `end` is called after each `begin` that returned true, and
	 * frees the state; where `is_read` is false the recording could not be read, and it removes
	 * what was written.
	 */
	bool (*begin)(struct export *e);
	bool (*end)(struct export *e, bool is_read);
};

/* Sets `why` to what errno says of a path. Returns false. */
bool export_refuse(struct export *e, const char *path, int error);
/*
 * Makes the directory, which may exist if it is empty. Returns false with `why` set.
 */
bool export_directory(struct export *e);
/* Removes the directory if it is empty. */
void export_remove_directory(const struct export *e);
/* Returns whether the filter takes a fact; true without a filter, and for facts it cannot judge. */
bool export_takes(const struct export *e, enum fact kind, const void *fact);

#endif
