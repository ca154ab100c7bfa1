/* SPDX-License-Identifier: MIT */
#include "figures/in_program.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"

/* Rows of one table. */
#define ROWS_MAX 64

/* ---- parts of one exchange ---- */

_Static_assert(sizeof(struct fact_before_read) == sizeof(struct fact_in_program) &&
		       sizeof(struct fact_during_reply) == sizeof(struct fact_in_program),
	"all have the same columns");

void program_times_add(struct program_times *p, const void *fact)
{
	struct fact_in_program same;
	const struct fact_in_program *f = memcpy(&same, fact, sizeof(same));
	struct program_time *to;

	if (p->sock != f->request.sock || p->ordinal != f->ordinal)
		p->n = 0;
	p->sock = f->request.sock;
	p->ordinal = f->ordinal;
	if (p->n == PROGRAM_TIMES)
		return;
	to = &p->part[p->n++];
	memset(to, 0, sizeof(*to));
	to->key.call = f->call;
	if (f->remote.addr && f->remote.port) {
		memcpy(to->key.addr, f->remote.addr, sizeof(to->key.addr));
		to->key.port = f->remote.port;
	}
	to->key.part = f->part;
	to->key.in = f->part == PROGRAM_UNKNOWN ? f->why_unknown : f->blocked_in;
	to->key.io = f->io;
	to->time = f->time;
	to->tid = f->tid;
}

void program_times_leave_out(struct program_times *p, const struct fact_address *peer)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; peer->addr && i < p->n; i++) {
		const struct program_key *k = &p->part[i].key;

		if (k->port != peer->port || memcmp(k->addr, peer->addr, sizeof(k->addr)) != 0)
			p->part[kept++] = p->part[i];
	}
	p->n = peer->addr ? kept : p->n;
}

bool program_times_are_of(const struct program_times *p, const struct fact_exchange *f)
{
	return p->n && p->sock == f->request.sock && p->ordinal == f->ordinal;
}

static int longest_time(const void *a, const void *b)
{
	const struct program_time *x = a, *y = b;

	return x->time < y->time ? 1 : -(x->time > y->time);
}

struct program_times *program_times_copy(const struct program_times *p)
{
	size_t size = offsetof(struct program_times, part) + p->n * sizeof(p->part[0]);
	struct program_times *to = mg_malloc(size);

	if (!to)
		return NULL;
	memcpy(to, p, size);
	qsort(to->part, to->n, sizeof(to->part[0]), longest_time);
	return to;
}

/* ---- sums ---- */

static uint32_t bin_of(uint64_t v)
{
	uint32_t e = 63 - (uint32_t)__builtin_clzll(v | 4);

	return v < 4 ? (uint32_t)v : ((e - 1) << 2) + (uint32_t)(v >> (e - 2)) - 4;
}

static struct program_row *row_of(struct program_table *t, const struct program_key *key)
{
	struct program_row *r = NULL;

	HASH_FIND(hh, t->rows, key, sizeof(*key), r);
	if (r || HASH_COUNT(t->rows) >= ROWS_MAX)
		return r;
	r = mg_calloc(1, sizeof(*r));
	if (!r)
		return NULL;
	r->key = *key;
	r->in_bin = mg_calloc(PROGRAM_BINS, sizeof(*r->in_bin));
	r->in_whole = mg_calloc(CAUSE_BINS, sizeof(*r->in_whole));
	HASH_ADD(hh, t->rows, key, sizeof(r->key), r);
	return hash_kept(r);
}

void program_table_add(struct program_table *t, const struct program_times *p, uint32_t whole)
{
	uint64_t sum = 0;
	uint32_t bin;

	if (!t->in_bin) {
		t->in_bin = mg_calloc(PROGRAM_BINS, sizeof(*t->in_bin));
		t->n_in_bin = mg_calloc(PROGRAM_BINS, sizeof(*t->n_in_bin));
		t->in_whole = mg_calloc(CAUSE_BINS, sizeof(*t->in_whole));
	}
	if (!t->in_bin || !t->n_in_bin || !t->in_whole)
		return;
	for (uint32_t i = 0; i < p->n; i++)
		sum += p->part[i].time;
	bin = bin_of(sum);
	t->n++;
	t->time += sum;
	t->in_bin[bin] += sum;
	t->n_in_bin[bin]++;
	if (whole < CAUSE_BINS)
		t->in_whole[whole] += sum;
	for (uint32_t i = 0; i < p->n; i++) {
		uint64_t time = p->part[i].time;
		struct program_row *r = row_of(t, &p->part[i].key);

		if (!r || !r->in_bin) {
			t->rest += time;
			continue;
		}
		r->n++; /* by threads there may be several of an exchange */
		for (uint32_t k = 0; k < i; k++)
			if (memcmp(&p->part[k].key, &p->part[i].key, sizeof(r->key)) == 0) {
				r->n--;
				break;
			}
		r->time += time;
		r->in_bin[bin] += time;
		if (r->in_whole && whole < CAUSE_BINS)
			r->in_whole[whole] += time;
		if (time > r->max)
			r->max = time;
	}
}

/* ---- the end ---- */

static int longest_row(const struct program_row *a, const struct program_row *b)
{
	return a->time < b->time ? 1 : -(a->time > b->time);
}

/* Returns the bin of the exchange with so many shorter ones. */
static uint32_t bin_at(const struct program_table *t, double shorter)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < PROGRAM_BINS; i++) {
		n += t->n_in_bin[i];
		if ((double)n > shorter)
			return i;
	}
	return PROGRAM_BINS - 1;
}

static uint64_t sum_of(const uint64_t *bins, uint32_t from, uint32_t to)
{
	uint64_t sum = 0;

	for (uint32_t i = from; bins && i < to; i++)
		sum += bins[i];
	return sum;
}

/* Returns the bin where the longest begin: the 99th percentile's, or of what holds in its place. */
static uint32_t tail_of(const struct program_table *t)
{
	double n = (double)t->n, q = t->n >= 20 ? 1 - 10 / n : 1 - 0.5 / n;

	return bin_at(t, (q > 0.99 && t->n >= 20 ? 0.99 : q) * n);
}

void program_table_finish(struct program_table *t)
{
	uint32_t middle, tail;

	if (!t->n || !t->in_bin)
		return;
	middle = bin_at(t, 0.5 * (double)t->n);
	tail = tail_of(t);
	t->middle = t->in_bin[middle];
	t->tail = sum_of(t->in_bin, tail, PROGRAM_BINS);
	t->tail_n = sum_of(t->n_in_bin, tail, PROGRAM_BINS);
	for (struct program_row *r = t->rows; r; r = r->hh.next) {
		r->middle = sum_of(r->in_bin, middle, middle + 1);
		r->tail = sum_of(r->in_bin, tail, PROGRAM_BINS);
		free(r->in_bin);
		r->in_bin = NULL;
	}
	HASH_SORT(t->rows, longest_row);
	free(t->in_bin);
	free(t->n_in_bin);
	t->in_bin = t->n_in_bin = NULL;
}

uint64_t program_table_time(const struct program_table *t, uint32_t first, uint32_t last)
{
	return sum_of(t->in_whole, first, last + 1);
}

const struct program_row *program_table_longest(
	const struct program_table *t, uint32_t first, uint32_t last, double *share)
{
	uint64_t all = sum_of(t->in_whole, first, last + 1), most = 0;
	const struct program_row *longest = NULL;

	for (const struct program_row *r = t->rows; r; r = r->hh.next) {
		uint64_t time = sum_of(r->in_whole, first, last + 1);

		if (time > most) {
			most = time;
			longest = r;
		}
	}
	*share = longest ? (double)most / (double)all : 0;
	return longest;
}

void program_table_free(struct program_table *t)
{
	struct program_row *r, *next;

	HASH_ITER (hh, t->rows, r, next) {
		HASH_DEL(t->rows, r);
		free(r->in_bin);
		free(r->in_whole);
		free(r);
	}
	free(t->in_bin);
	free(t->n_in_bin);
	free(t->in_whole);
}
