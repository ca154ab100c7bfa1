/* SPDX-License-Identifier: MIT */
#include "figures/blocked.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "hash.h"

/* Returns the row for a wait; NULL without memory, or if there are too many. */
static struct blocked_row *row_of(struct blocked_stats *s, const struct fact_wait *f)
{
	struct blocked_key key = {.pid = (uint32_t)f->pid,
		.in = f->blocked_in,
		.io = f->io,
		.port = f->remote.port,
		.call = f->call};
	struct blocked_row *r = NULL;
	uint64_t *seen, bit;
	unsigned int hash;

	if (f->remote.addr)
		memcpy(key.addr, f->remote.addr, sizeof(key.addr));
	HASH_VALUE(&key, sizeof(key), hash);
	seen = &s->seen[hash % BLOCKED_BITS / 64];
	bit = 1ull << hash % 64;
	if (*seen & bit)
		HASH_FIND_BYHASHVALUE(hh, s->rows, &key, sizeof(key), hash, r);
	if (r || HASH_COUNT(s->rows) >= BLOCKED_ROWS)
		return r;
	r = mg_calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->key = key;
	*seen |= bit;
	HASH_ADD_BYHASHVALUE(hh, s->rows, key, sizeof(r->key), hash, r);
	return hash_kept(r);
}

void blocked_add(struct blocked_stats *s, const struct fact_wait *f)
{
	struct blocked_row *r;
	uint64_t until = f->woken ? f->woken : f->end, time;

	if (f->why != WAIT_BLOCKED || !f->begin || until < f->begin)
		return;
	time = until - f->begin;
	s->n++;
	if (f->woken)
		s->sum += time;
	else
		s->undivided += time;
	s->unknown += f->blocked_in == FACT_NO_WORD;
	r = row_of(s, f);
	if (!r) {
		s->rest += f->woken ? time : 0;
		return;
	}
	if (f->program)
		r->program = f->program;
	if (f->woken) {
		dist_add(&r->time, time, 1);
	} else {
		r->undivided_n++;
		r->undivided += time;
	}
}

/* Returns whether one row stands before another; the process and the call decide a tie. */
static bool is_before(const struct blocked_row *a, const struct blocked_row *b)
{
	if (a->time.sum != b->time.sum)
		return a->time.sum > b->time.sum;
	return memcmp(&a->key, &b->key, sizeof(a->key)) < 0;
}

const struct blocked_row *blocked_next(
	const struct blocked_stats *s, const struct blocked_row *last)
{
	const struct blocked_row *next = NULL;

	for (const struct blocked_row *r = s->rows; r; r = r->hh.next)
		if ((!last || is_before(last, r)) && (!next || is_before(r, next)))
			next = r;
	return next;
}

void blocked_stats_free(struct blocked_stats *s)
{
	struct blocked_row *r, *next;

	HASH_ITER (hh, s->rows, r, next) {
		HASH_DEL(s->rows, r);
		dist_free(&r->time);
		free(r);
	}
}
