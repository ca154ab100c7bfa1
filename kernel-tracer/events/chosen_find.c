/* SPDX-License-Identifier: MIT */
/* Finds the tracepoints that --event names, and proposes similar names where there is none. */
#define _GNU_SOURCE
#include "events/chosen_find.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "ctf.h"
#include "event_spec.h"
#include "events/chosen_format.h"
#include "events/tracefs.h"

#define NEAR_MAX 3 /* number of names proposed */

/* Returns how many letters must be changed, inserted or removed to make one name of the other. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[65], up, left;
	size_t n = strlen(b);

	if (n > 64)
		return 64;
	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned int)j;
	for (; *a; a++) {
		up = row[0]++;
		for (size_t j = 1; j <= n; j++) {
			left = row[j - 1] < row[j] ? row[j - 1] + 1 : row[j] + 1;
			if (up + (*a != b[j - 1]) < left)
				left = up + (*a != b[j - 1]);
			up = row[j];
			row[j] = left;
		}
	}
	return row[n];
}

struct near {
	char name[160];
	unsigned int distance;
};

/* Inserts a name into the list of the nearest so far, the nearest first. */
static void consider(
	struct near near[NEAR_MAX], const char *category, const char *name, unsigned int how_far)
{
	int at = NEAR_MAX;

	while (at > 0 && how_far < near[at - 1].distance)
		at--;
	if (at == NEAR_MAX)
		return;
	memmove(&near[at + 1], &near[at], (size_t)(NEAR_MAX - 1 - at) * sizeof(near[0]));
	snprintf(near[at].name, sizeof(near[at].name), "%.64s:%.64s", category, name);
	near[at].distance = how_far;
}

/* Writes ", did you mean ...?" with the nearest names. */
static void propose(int tracefs, const struct event_spec *s, char *out, size_t size)
{
	struct near near[NEAR_MAX];
	char **categories = tracefs_list(tracefs, "events");
	const char *separator = "; did you mean ";
	size_t used = 0;

	for (int i = 0; i < NEAR_MAX; i++)
		near[i].distance = 4; /* more distant names are no help */
	for (char **c = categories; c && *c; c++) {
		unsigned int category = distance(s->category, *c);
		char path[256], **names;

		snprintf(path, sizeof(path), "events/%.64s", *c);
		names = tracefs_list(tracefs, path);
		for (char **n = names; n && *n; n++) {
			unsigned int d = distance(s->name, *n) + category;

			if (d > 2 && strcmp(s->name, *n) == 0)
				d = 2; /* distance of the same name in another category */
			if (d > 3 && !category && strlen(s->name) > 3 && strstr(*n, s->name))
				d = 3;
			consider(near, *c, *n, d);
		}
		tracefs_list_free(names);
	}
	tracefs_list_free(categories);
	out[0] = 0;
	for (int i = 0; i < NEAR_MAX && near[i].distance < 4 && used < size; i++) {
		used += (size_t)snprintf(out + used, size - used, "%s%s", separator, near[i].name);
		separator = ", ";
	}
	if (used && used < size)
		snprintf(out + used, size - used, "?");
}

static void name_fields(const struct event_format *f, char *out, size_t size)
{
	size_t used = 0;

	snprintf(out, size, "none");
	for (size_t i = 0; i < f->count && used < size; i++)
		if (strncmp(f->field[i].name, "common_", 7) != 0)
			used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "",
				f->field[i].name);
}

static int choose_fields(
	struct chosen_event *e, const struct event_spec *s, bool anonymize, char *why, size_t size)
{
	const char *unknown;
	char fields[400];

	if (!s->fields) {
		format_choose_all(&e->format, anonymize);
		return 0;
	}
	name_fields(&e->format, fields, sizeof(fields));
	unknown = format_choose(&e->format, s->fields, e->pattern);
	if (unknown) {
		snprintf(why, size, "%s:%s has no field '%.*s'; its fields: %s", e->category,
			e->name, (int)strcspn(unknown, ","), unknown, fields);
		return -EINVAL;
	}
	for (size_t i = 0; anonymize && i < e->format.count; i++)
		if (field_is_address(e->format.field[i].name)) {
			snprintf(why, size,
				"%s:%s: the field %s is an address or a port, which --anonymize "
				"leaves out",
				e->category, e->name, e->format.field[i].name);
			return -EINVAL;
		}
	return 0;
}

/* Returns the chosen event of that name; NULL if it has not been chosen. */
static struct chosen_event *find_chosen(
	const struct chosen_list *l, const char *category, const char *name)
{
	for (size_t i = 0; i < l->count; i++)
		if (strcmp(l->event[i].category, category) == 0 &&
			strcmp(l->event[i].name, name) == 0)
			return &l->event[i];
	return NULL;
}

static int add(struct chosen_list *l, int tracefs, const struct event_spec *s, const char *name,
	bool anonymize, char *why, size_t size)
{
	struct chosen_event *e = find_chosen(l, s->category, name);
	bool pattern = spec_is_pattern(s);
	char path[256], *text;
	int err;

	if (e && !e->pattern && !pattern) {
		snprintf(why, size, "%s:%s is named twice: join the filters by ||", s->category,
			name);
		return -EINVAL;
	}
	if (e && !e->pattern)
		/* the option that names the event alone is more specific than the pattern */
		return 0;
	if (e) {
		format_free(&e->format);
		free(e->filter);
	} else {
		struct chosen_event *more = mg_realloc(l->event, (l->count + 1) * sizeof(*more));

		if (!more)
			return -ENOMEM;
		l->event = more;
		e = &more[l->count++];
	}
	*e = (struct chosen_event){
		.pattern = pattern, .id = (uint16_t)(CTF_CHOSEN_ID + (e - l->event))};
	snprintf(e->category, sizeof(e->category), "%s", s->category);
	snprintf(e->name, sizeof(e->name), "%s", name);
	e->filter = s->filter ? mg_strdup(s->filter) : NULL;
	snprintf(path, sizeof(path), "events/%.64s/%.64s/format", s->category, name);
	text = tracefs_read(tracefs, path);
	err = text ? format_parse(text, &e->format) : -errno;
	free(text);
	if (err == -EINVAL)
		snprintf(why, size, "%s:%s: magnet cannot read how the kernel describes it",
			s->category, name);
	else if (err)
		snprintf(why, size, "%s:%s: how the kernel describes it cannot be read: %s%s",
			s->category, name, strerror(-err),
			err == -EPERM ? " (lockdown=confidentiality refuses it)" : "");
	return err == -EINVAL ? -EIO : err ? err : choose_fields(e, s, anonymize, why, size);
}

/* Returns whether the event can be recorded: those that cannot have no number. */
static bool has_number(int tracefs, const char *category, const char *name)
{
	char path[256], *text;

	snprintf(path, sizeof(path), "events/%.64s/%.64s/id", category, name);
	text = tracefs_read(tracefs, path);
	free(text);
	return text || errno != ENOENT;
}

/*
 * Checks a pattern's field names: each event keeps those it has, but a name that none of the events
 * has is an error.
 */
static int check_fields(
	const struct chosen_list *l, const struct event_spec *s, char *why, size_t size)
{
	for (const char *p = s->fields; p && *p;) {
		size_t len = strcspn(p, ","), i = 0;

		while (i < l->count && (strcmp(l->event[i].category, s->category) != 0 ||
					       !format_field(&l->event[i].format, p, len)))
			i++;
		if (i == l->count) {
			snprintf(why, size, "none of the events %s:%s has a field '%.*s'",
				s->category, s->name, (int)len, p);
			return -EINVAL;
		}
		p += len + (p[len] == ',');
	}
	return 0;
}

static int find(struct chosen_list *l, int tracefs, const struct event_spec *s, bool anonymize,
	char *why, size_t size)
{
	char path[256], **names, nearby[256];
	size_t found = 0;
	int err = 0;

	snprintf(path, sizeof(path), "events/%.64s", s->category);
	names = tracefs_list(tracefs, path);
	for (char **n = names; n && *n && !err; n++) {
		if (fnmatch(s->name, *n, 0) != 0 || !has_number(tracefs, s->category, *n))
			continue;
		found++;
		err = add(l, tracefs, s, *n, anonymize, why, size);
	}
	tracefs_list_free(names);
	if (err || found)
		return err ? err : check_fields(l, s, why, size);
	propose(tracefs, s, nearby, sizeof(nearby));
	snprintf(why, size, "this kernel has no event %s:%s%s", s->category, s->name, nearby);
	return -EINVAL;
}

int chosen_find(
	struct chosen_list *l, int tracefs, const struct chosen_options *o, char *why, size_t size)
{
	unsigned long refused = mg_memory_failures();
	int err = 0;

	*l = (struct chosen_list){0};
	for (int i = 0; i < o->count && !err; i++) {
		struct event_spec s;

		/* the syntax was checked with the command line */
		err = spec_parse(o->event[i], &s) ? -EINVAL : 0;
		if (!err) {
			err = find(l, tracefs, &s, o->anonymize, why, size);
			spec_free(&s);
		}
	}
	/* the event or its message may be missing for lack of memory only */
	if (mg_memory_failures() != refused) {
		snprintf(why, size, "out of memory");
		err = -ENOMEM;
	}
	if (err)
		chosen_list_free(l);
	return err;
}

void chosen_list_free(struct chosen_list *l)
{
	for (size_t i = 0; i < l->count; i++) {
		format_free(&l->event[i].format);
		free(l->event[i].filter);
	}
	free(l->event);
	*l = (struct chosen_list){0};
}
