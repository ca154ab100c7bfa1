/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "byte_life.h"

static int by_offset(const void *a, const void *b)
{
	const struct life_row *x = a, *y = b;

	return x->off < y->off ? -1 : x->off > y->off;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Sorts by time; at equal times the begin of a call comes first and its end last. */
static int by_time(const void *a, const void *b)
{
	const struct life_row *x = *(struct life_row *const *)a, *y = *(struct life_row *const *)b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->what != y->what ? x->what - y->what : (x > y) - (x < y);
}

/* Returns the offsets at which ranges begin or end, in order, each once. */
static uint64_t *cuts(const struct life *l, size_t *n)
{
	uint64_t *cut = mg_malloc((2 * l->rows + 2) * sizeof(*cut));
	size_t kept = 0;

	if (!cut)
		return NULL;
	*n = 0;
	cut[(*n)++] = l->from;
	cut[(*n)++] = l->to;
	for (size_t i = 0; i < l->rows; i++) {
		uint64_t end = l->row[i].off + l->row[i].len;

		if (l->row[i].off > l->from)
			cut[(*n)++] = l->row[i].off;
		if (end < l->to)
			cut[(*n)++] = end;
	}
	qsort(cut, *n, sizeof(*cut), by_number);
	for (size_t i = 0; i < *n; i++)
		if (!kept || cut[i] != cut[kept - 1])
			cut[kept++] = cut[i];
	*n = kept;
	return cut;
}

int life_atoms(struct life *l, life_atom_fn fn, void *arg)
{
	const struct life_row **active = mg_malloc((l->rows + 1) * sizeof(*active));
	const struct life_row **of_atom = mg_malloc((l->rows + 1) * sizeof(*of_atom));
	size_t n, next = 0, live = 0;
	uint64_t *cut = cuts(l, &n);

	if (!active || !of_atom || !cut) {
		free(active);
		free(of_atom);
		free(cut);
		return -ENOMEM;
	}
	if (l->rows)
		qsort(l->row, l->rows, sizeof(*l->row), by_offset);
	for (size_t i = 0; i + 1 < n; i++) {
		size_t kept = 0;

		for (; next < l->rows && l->row[next].off < cut[i + 1]; next++)
			active[live++] = &l->row[next];
		for (size_t k = 0; k < live; k++)
			if (active[k]->off + active[k]->len > cut[i])
				active[kept++] = active[k];
		live = kept;
		memcpy(of_atom, active, live * sizeof(*active));
		qsort(of_atom, live, sizeof(*of_atom), by_time);
		fn(arg, cut[i], cut[i + 1], of_atom, live);
	}
	free(active);
	free(of_atom);
	free(cut);
	return 0;
}
