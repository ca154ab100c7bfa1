/* SPDX-License-Identifier: MIT */
#include "aligned.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"

static bool is_same(const struct subject_key *a, const struct subject_key *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static bool is_same_but_port(const struct subject_key *a, const struct subject_key *b)
{
	return (a->what == SUBJECT_FLOW || a->what == SUBJECT_EXCHANGES) && a->what == b->what &&
	       a->kind == b->kind && a->rx == b->rx && a->side == b->side;
}

/* ---- roles ---- */

static size_t recordings(const struct aligned *a)
{
	return a->now + a->before;
}

/* Returns the role that has this key in any recording before number `r`; NULL if none has. */
static struct role *role_by_key(struct aligned *a, size_t r, const struct subject_key *key)
{
	for (size_t i = 0; i < a->roles; i++)
		for (size_t k = 0; k <= r; k++)
			if (a->role[i].is_in[k] && is_same(&a->role[i].in[k], key))
				return &a->role[i];
	return NULL;
}

/*
 * Returns the role for a subject without one: the only one that the recording lacks and that is the
 * same but for its port, if the subject is the only one that could have it.
 */
static struct role *only_such(struct aligned *a, size_t r, const struct measured *m, size_t subject)
{
	const struct subject_key *key = &m->subject[subject].key;
	struct role *found = NULL;

	for (size_t i = 0; i < m->subjects; i++)
		if (i != subject && is_same_but_port(&m->subject[i].key, key) &&
			!role_by_key(a, r, &m->subject[i].key))
			return NULL;
	for (size_t i = 0; i < a->roles; i++) {
		if (a->role[i].is_in[r] || !is_same_but_port(&a->role[i].key, key))
			continue;
		if (found)
			return NULL;
		found = &a->role[i];
	}
	return found;
}

static struct role *new_role(struct aligned *a, const struct measured_subject *s)
{
	struct role *more = mg_realloc(a->role, (a->roles + 1) * sizeof(*more)), *new;

	if (!more)
		return NULL;
	a->role = more;
	new = &more[a->roles];
	*new = (struct role){.key = s->key,
		.in = mg_calloc(recordings(a), sizeof(*new->in)),
		.is_in = mg_calloc(recordings(a), sizeof(*new->is_in)),
		.amount = s->amount};
	if (!new->in || !new->is_in) {
		free(new->in);
		free(new->is_in);
		return NULL;
	}
	a->roles++;
	return new;
}

static void give(struct role *role, size_t r, const struct subject_key *key)
{
	role->in[r] = *key;
	role->is_in[r] = true;
}

/* Finds the roles of a recording's subjects: first by their key, then by all but the port. */
static int add_roles(struct aligned *a, size_t r, const struct measured *m)
{
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < m->subjects; i++) {
			struct role *role = role_by_key(a, r, &m->subject[i].key);

			if (pass && !role)
				role = only_such(a, r, m, i);
			if (pass && !role)
				role = new_role(a, &m->subject[i]);
			if (pass && !role)
				return -ENOMEM;
			if (role && !role->is_in[r])
				give(role, r, &m->subject[i].key);
		}
	return 0;
}

/* ---- figures ---- */

static void identify(
	char id[224], size_t role, const char *figure, const char *stage, const char *reason)
{
	snprintf(id, 224, "%zu\t%s\t%s\t%s", role, figure, stage ? stage : "", reason);
}

static struct aligned_row *find(const struct aligned *a, const char *id)
{
	struct aligned_row *row = NULL;

	HASH_FIND(hh, a->rows, id, strlen(id), row);
	return row;
}

static void row_free(struct aligned_row *row)
{
	free(row->in);
	free(row->value);
	free(row);
}

static struct aligned_row *new_row(
	struct aligned *a, const char *id, size_t role, const struct measured_figure *like)
{
	struct aligned_row *row = mg_calloc(1, sizeof(*row));

	if (!row)
		return NULL;
	row->role = role;
	row->like = like;
	row->nth = HASH_COUNT(a->rows);
	row->in = mg_calloc(recordings(a), sizeof(*row->in));
	row->value = mg_calloc(recordings(a), sizeof(*row->value));
	if (!row->in || !row->value) {
		row_free(row);
		return NULL;
	}
	for (size_t i = 0; i < recordings(a); i++)
		row->value[i] = NAN;
	snprintf(row->id, sizeof(row->id), "%s", id);
	HASH_ADD(hh, a->rows, id, strlen(row->id), row);
	if (row->hh.tbl)
		return row;
	row_free(row); /* it could not be added */
	return NULL;
}

static int add_rows(struct aligned *a, size_t r, const struct measured *m)
{
	for (size_t i = 0; i < m->figures; i++) {
		const struct measured_figure *f = &m->figure[i];
		const struct role *role = role_by_key(a, r, &f->key);
		struct aligned_row *row;
		char id[224];

		if (!role)
			continue;
		identify(id, (size_t)(role - a->role), f->figure, f->stage, f->reason);
		row = find(a, id);
		if (!row)
			row = new_row(a, id, (size_t)(role - a->role), f);
		if (!row)
			return -ENOMEM;
		row->in[r] = f;
		row->value[r] = f->value;
	}
	return 0;
}

/* Finds the wholes of parts; a part that a recording lacks is 0 there if it has the whole. */
static void find_wholes(struct aligned *a)
{
	char id[224];

	for (struct aligned_row *row = a->rows; row; row = row->hh.next) {
		if (!row->like->whole)
			continue;
		identify(id, row->role, row->like->whole, NULL, "");
		row->whole = find(a, id);
		for (size_t r = 0; row->whole && r < recordings(a); r++)
			if (row->like->is_0_if_missing && isnan(row->value[r]) &&
				!isnan(row->whole->value[r]))
				row->value[r] = 0;
	}
}

static int in_order(
	const struct aligned *a, const struct aligned_row *x, const struct aligned_row *y)
{
	const struct role *p = &a->role[x->role], *q = &a->role[y->role];

	if (p->key.what != q->key.what)
		return p->key.what - q->key.what;
	if (p != q && p->amount != q->amount)
		return p->amount < q->amount ? 1 : -1;
	if (p != q)
		return memcmp(&p->key, &q->key, sizeof(p->key));
	return x->nth < y->nth ? -1 : x->nth > y->nth;
}

int align(struct aligned *a, const struct compared_side *now, const struct compared_side *before)
{
	int err = 0;

	*a = (struct aligned){.now = now->n, .before = before->n};
	for (size_t r = 0; r < recordings(a) && !err; r++)
		err = add_roles(a, r, r < a->now ? &now->of[r] : &before->of[r - a->now]);
	for (size_t r = 0; r < recordings(a) && !err; r++)
		err = add_rows(a, r, r < a->now ? &now->of[r] : &before->of[r - a->now]);
	if (err)
		return err;
	find_wholes(a);
#define IN_ORDER(x, y) in_order(a, x, y)
	HASH_SORT(a->rows, IN_ORDER);
#undef IN_ORDER
	return 0;
}

void aligned_free(struct aligned *a)
{
	struct aligned_row *row, *next;

	HASH_ITER (hh, a->rows, row, next) {
		HASH_DEL(a->rows, row);
		row_free(row);
	}
	for (size_t i = 0; i < a->roles; i++) {
		free(a->role[i].in);
		free(a->role[i].is_in);
	}
	free(a->role);
	memset(a, 0, sizeof(*a));
}
