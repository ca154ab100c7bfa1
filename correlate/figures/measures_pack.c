/* SPDX-License-Identifier: MIT */
/*
 * Packs measures as the core packs a socket: their memory without pointers, and then what the
 * pointers point to, always in the same order.
 */
#include "figures/measures_pack.h"

#include "alloc.h"
#include "core/bytes/packing.h"
#include "sums/dist_bins.h"
#include "sums/dist_late.h"

/*
 * A hash table stays as long as there is memory for it: packing the many bins of a busy flow takes
 * long, and may be in vain (dist_trim() does it when memory is short).
 */
static bool dist_fits(const struct dist *d)
{
	return (d->is_packed || !d->size || !d->pool) && (!d->more || !d->more->wide);
}

static bool timed_fits(struct timed_sums *t)
{
	struct dist *all[TIMED_DISTS];
	uint32_t n = timed_sums_dists(t, all);

	for (uint32_t i = 0; i < n; i++)
		if (!dist_fits(all[i]))
			return false;
	return true;
}

bool measures_fit(const void *state)
{
	struct flow_measures m = *(const struct flow_measures *)state;
	struct dist *all[MEASURES_DISTS];
	uint32_t n = measures_dists(&m, all);

	if (m.series || m.from || m.zerocopy || m.window || m.slow)
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (!dist_fits(all[i]))
			return false;
	if (!timed_fits(m.timed))
		return false;
	return !m.resent || (dist_fits(&m.resent->wait) && dist_fits(&m.resent->left_out));
}

size_t measures_size(const void *state)
{
	struct flow_measures m = *(const struct flow_measures *)state;
	size_t sum = waterfall_memory(&m.waterfall);
	struct dist *all[MEASURES_DISTS], *timed[TIMED_DISTS];
	uint32_t n = measures_dists(&m, all), more = timed_sums_dists(m.timed, timed);

	for (uint32_t i = 0; i < n; i++)
		sum += dist_memory(all[i]);
	for (uint32_t i = 0; i < more; i++)
		sum += dist_memory(timed[i]);
	return sum;
}

/* ---- writing ---- */

static void bare_dist(struct dist *d)
{
	d->bins = NULL;
	d->pool = NULL;
	d->more = PACKED_THERE(d->more);
	d->late = NULL;
}

static void put_cells(struct packing *p, const struct dist_cell *c)
{
	for (; c; c = c->before)
		pack_words(p, c->word, sizeof(c->word));
}

/* Writes packed bins, which are as short as they can be. */
static void put_dist(struct packing *p, const struct dist *d)
{
	if (d->more)
		PACK(p, d->more);
	put_cells(p, d->late);
	if (d->is_packed)
		pack_bytes(p, d->packed, d->size);
	else
		pack_words(p, d->bins, d->size * sizeof(*d->bins));
}

static size_t cells_size(const struct waterfall *w)
{
	return w->used * waterfall_cell_size(w);
}

static void put_why(struct packing *p, const struct why_sums *w)
{
	struct why_sums bare = *w;

	bare.row = NULL;
	PACK(p, &bare);
	pack_words(p, w->row, w->rows * sizeof(*w->row));
}

static void put_resent(struct packing *p, const struct resent_sums *r)
{
	struct resent_sums bare = *r;

	bare_dist(&bare.wait);
	bare_dist(&bare.left_out);
	PACK(p, &bare);
	put_dist(p, &r->wait);
	put_dist(p, &r->left_out);
}

static void put_timed(struct packing *p, struct timed_sums *t)
{
	struct timed_sums bare = *t;
	struct dist *all[TIMED_DISTS];
	uint32_t n = timed_sums_dists(&bare, all);

	for (uint32_t i = 0; i < n; i++)
		bare_dist(all[i]);
	PACK(p, &bare);
	n = timed_sums_dists(t, all);
	for (uint32_t i = 0; i < n; i++)
		put_dist(p, all[i]);
}

static void put_bare(struct packing *p, const struct flow_measures *m)
{
	struct flow_measures bare = *m;
	struct dist *dists[MEASURES_DISTS];
	uint32_t n = measures_dists(&bare, dists);

	for (uint32_t i = 0; i < n; i++)
		bare_dist(dists[i]);
	bare.exchanges.group = NULL; /* the next fact of its finds it */
	bare.exchanges.recent = NULL;
	bare.waterfall.cell = NULL;
	bare.waterfall.place = NULL;
	bare.waterfall.pool = NULL;
	bare.waterfall.late = NULL;
	bare.waterfall.cap = bare.waterfall.used;
	bare.tcp = PACKED_THERE(bare.tcp);
	bare.why = PACKED_THERE(bare.why);
	bare.resent = PACKED_THERE(bare.resent);
	bare.timed = PACKED_THERE(bare.timed);
	PACK(p, &bare);
}

void measures_pack(const void *state, struct packing *p)
{
	struct flow_measures m = *(const struct flow_measures *)state;
	struct dist *dists[MEASURES_DISTS];
	uint32_t n = measures_dists(&m, dists);

	put_bare(p, &m);
	for (uint32_t i = 0; i < n; i++)
		put_dist(p, dists[i]);
	pack_words(p, m.waterfall.cell, cells_size(&m.waterfall));
	pack_words(p, m.waterfall.place, m.waterfall.size * sizeof(*m.waterfall.place));
	put_cells(p, m.waterfall.late);
	if (m.tcp)
		PACK(p, m.tcp);
	if (m.why)
		put_why(p, m.why);
	if (m.resent)
		put_resent(p, m.resent);
	if (m.timed)
		put_timed(p, m.timed);
}

/* ---- reading ---- */

/* Reads `n` cells. */
static void get_cells(
	struct unpacking *u, struct dist_pool *pool, struct dist_cell **to, uint32_t n)
{
	for (; n && !u->failed; n--) {
		struct dist_cell *c = *to = dist_cell_new(pool);

		unpack_words_to(u, c ? c->word : NULL, sizeof(c->word));
		if (!c)
			return;
		c->before = NULL;
		to = &c->before;
	}
}

static void get_waterfall(struct unpacking *u, struct waterfall *w)
{
	w->cell = unpack_words(u, cells_size(w), cells_size(w));
	UNPACK(u, w->place, w->size);
	get_cells(u, w->pool, &w->late, w->late_cells);
}

static void get_dist(struct unpacking *u, struct dist *d)
{
	if (d->more)
		UNPACK(u, d->more, 1);
	get_cells(u, d->pool, &d->late, dist_cells(d));
	if (!d->is_packed) {
		UNPACK(u, d->bins, d->size);
		return;
	}
	d->packed = u->failed ? NULL : mg_malloc(dist_room(d->size));
	unpack_bytes(u, d->packed, d->size);
}

static void get_why(struct unpacking *u, struct why_sums **why)
{
	struct why_sums *w = UNPACK(u, *why, 1);

	if (w)
		UNPACK(u, w->row, w->rows);
}

static void get_resent(struct unpacking *u, struct resent_sums **resent)
{
	struct resent_sums *r = UNPACK(u, *resent, 1);

	if (!r)
		return;
	get_dist(u, &r->wait);
	get_dist(u, &r->left_out);
}

static void get_timed(struct unpacking *u, struct timed_sums **timed, struct measures_memory *with)
{
	struct timed_sums *t = UNPACK(u, *timed, 1);
	struct dist *all[TIMED_DISTS];
	uint32_t n = timed_sums_dists(t, all);

	if (t)
		timed_sums_share(t, &with->dists);
	for (uint32_t i = 0; i < n; i++)
		get_dist(u, all[i]);
}

void *measures_unpack(void *memory, struct unpacking *u)
{
	struct measures_memory *with = memory;
	struct dist *dists[MEASURES_DISTS];
	struct flow_measures *m = unpack_words(u, sizeof(*m), sizeof(*m));
	uint32_t n;

	if (!m)
		return NULL;
	measures_share(m, with);
	n = measures_dists(m, dists);
	for (uint32_t i = 0; i < n; i++)
		get_dist(u, dists[i]);
	get_waterfall(u, &m->waterfall);
	if (m->tcp)
		UNPACK(u, m->tcp, 1);
	if (m->why)
		get_why(u, &m->why);
	if (m->resent)
		get_resent(u, &m->resent);
	if (m->timed)
		get_timed(u, &m->timed, with);
	with->dists.used += measures_size(m);
	measures_check(with);
	return m;
}
