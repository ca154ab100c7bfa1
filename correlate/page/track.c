/* SPDX-License-Identifier: MIT */
#include "page/track.h"

#include <stdio.h>
#include <string.h>

/* A thinned track keeps the first, smallest, largest and last of so many neighbouring rows. */
#define THINNED 8
#define KEPT    4
/* A track with fewer rows than this is never thinned out. */
#define FEW 64

const struct track_form *track_form(enum track_kind kind)
{
#define NAMED(ID, name, columns) {name, columns},
	static const struct {
		const char *name, *columns;
	} written[TRACK_KINDS] = {MG_TRACKS(NAMED)};
#undef NAMED
	static const char *const types[] = {"TIME", "SPAN", "COUNT", "TEXT"};
	static struct track_form made[TRACK_KINDS];
	static char names[TRACK_KINDS][TRACK_COLUMNS][16];
	struct track_form *f = &made[kind];
	char type[8];

	if (f->columns)
		return f;
	f->name = written[kind].name;
	f->column[0] = "time";
	f->type[0] = TRACK_TIME;
	f->columns = 1;
	for (const char *at = written[kind].columns; *at; f->columns++) {
		int used = 0, i = f->columns;

		sscanf(at, "%15[^:]:%7s %n", names[kind][i], type, &used);
		f->column[i] = names[kind][i];
		for (int k = 0; k < (int)(sizeof(types) / sizeof(types[0])); k++)
			if (strcmp(type, types[k]) == 0)
				f->type[i] = (enum track_type)k;
		at += used;
	}
	return f;
}

struct track *track_of(struct tracks *all, const struct track_key *key)
{
	struct track *t;

	HASH_FIND(hh, all->table, key, sizeof(*key), t);
	if (t)
		return t;
	t = mg_calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->key = *key;
	HASH_ADD(hh, all->table, key, sizeof(t->key), t);
	return hash_kept(t);
}

static int by_time(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void sort(struct track *t)
{
	int columns = track_form(t->key.kind)->columns;
	bool sorted = true;

	for (size_t i = 1; i < t->n && sorted; i++)
		sorted = t->row[(i - 1) * (size_t)columns] <= t->row[i * (size_t)columns];
	if (!sorted)
		qsort(t->row, t->n, (size_t)columns * sizeof(*t->row), by_time);
}

/* Returns how large a row is: its first value, or how long its interval is. */
static uint64_t size_of(const struct track *t, const uint64_t *row)
{
	return t->key.kind == TRACK_WAIT ? row[2] - row[0] : row[1];
}

/* Copies the rows of a group that remain to `to`. Returns their number. */
static size_t thin_group(const struct track *t, const uint64_t *from, uint64_t *to)
{
	size_t columns = (size_t)track_form(t->key.kind)->columns, n = 0;
	size_t least = 0, most = 0;

	for (size_t i = 1; i < THINNED; i++) {
		if (size_of(t, from + i * columns) < size_of(t, from + least * columns))
			least = i;
		if (size_of(t, from + i * columns) > size_of(t, from + most * columns))
			most = i;
	}
	for (size_t i = 0; i < THINNED && n < KEPT; i++)
		if (i == 0 || i == least || i == most || i == THINNED - 1)
			memmove(to + n++ * columns, from + i * columns, columns * sizeof(*to));
	return n;
}

static void thin(struct tracks *all, struct track *t)
{
	size_t columns = (size_t)track_form(t->key.kind)->columns, n = 0, i = 0;

	sort(t);
	for (; i + THINNED <= t->n; i += THINNED)
		n += thin_group(t, t->row + i * columns, t->row + n * columns);
	memmove(t->row + n * columns, t->row + i * columns, (t->n - i) * columns * sizeof(*t->row));
	n += t->n - i;
	all->rows -= t->n - n;
	t->n = n;
}

/* Thins the tracks that have more rows than most of the others, until half of the room is free. */
static void thin_all(struct tracks *all)
{
	size_t before = all->rows + 1;

	while (all->rows > all->most / 2 && all->rows < before) {
		size_t few = all->rows / (2 * HASH_COUNT(all->table));

		before = all->rows;
		for (struct track *t = all->table; t; t = t->hh.next)
			if (t->n > few && t->n > FEW)
				thin(all, t);
	}
}

void track_add(struct tracks *all, struct track *t, const uint64_t row[TRACK_COLUMNS])
{
	size_t columns = (size_t)track_form(t->key.kind)->columns;

	if (t->n == t->cap) {
		size_t cap = t->cap ? 2 * t->cap : 16;
		uint64_t *more = mg_realloc(t->row, cap * columns * sizeof(*more));

		if (!more)
			return;
		t->row = more;
		t->cap = cap;
	}
	memcpy(t->row + t->n++ * columns, row, columns * sizeof(*row));
	t->seen++;
	if (++all->rows > all->most)
		thin_all(all);
}

void tracks_sort(struct tracks *all)
{
	for (struct track *t = all->table; t; t = t->hh.next)
		sort(t);
}

void tracks_free(struct tracks *all)
{
	struct track *t, *next;

	HASH_ITER (hh, all->table, t, next) {
		HASH_DEL(all->table, t);
		dist_free(&t->values);
		free(t->row);
		free(t);
	}
}
