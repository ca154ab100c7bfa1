/* SPDX-License-Identifier: MIT */
/*
 * Packed bins, sorted by key: for each the key's distance from the previous one, the weight, and
 * the sum above the bin's begin, seven bits per byte. That takes a fifth of a hash table.
 */
#include <endian.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "sums/dist.h"
#include "sums/dist_bins.h"

#define ITEM_MAX 32  /* most bytes of a packed bin: 3, 10 and 19 */
#define ON_STACK 256 /* items */

static inline uint8_t *put(uint8_t *to, uint64_t v)
{
	for (; v >= 128; v >>= 7)
		*to++ = (uint8_t)(v | 128);
	*to++ = (uint8_t)v;
	return to;
}

static inline uint8_t *put_wide(uint8_t *to, unsigned __int128 v)
{
	for (; v >> 64; v >>= 7)
		*to++ = (uint8_t)(v | 128);
	return put(to, (uint64_t)v);
}

static inline const uint8_t *get(const uint8_t *from, uint64_t *v)
{
	*v = *from & 127;
	for (int shift = 7; *from++ & 128; shift += 7)
		*v |= (uint64_t)(*from & 127) << shift;
	return from;
}

/* Reads a number; up to eight bytes fit into 64 bits. */
static inline const uint8_t *get_wide(const uint8_t *from, unsigned __int128 *v)
{
	uint64_t low = *from & 127;
	int shift = 7;

	for (; *from++ & 128 && shift < 56; shift += 7)
		low |= (uint64_t)(*from & 127) << shift;
	*v = low;
	for (; from[-1] & 128; shift += 7)
		*v |= (unsigned __int128)(*from++ & 127) << shift;
	return from;
}

static bool next_of_table(struct dist_walk *w, struct dist_item *item)
{
	const struct dist_bin *b = w->at ? w->at : w->d->bins, *end = w->d->bins + w->d->size;
	const struct dist_wide *wide;

	while (b != end && !b->key)
		b++;
	if (b == end)
		return false;
	wide = wide_of(w->d, b->key);
	*item = (struct dist_item){b->key, b->weight, b->above};
	if (wide) {
		item->weight += wide->weight;
		item->above += wide->above;
	}
	w->at = b + 1;
	return true;
}

bool dist_next(struct dist_walk *w, struct dist_item *item)
{
	const uint8_t *at = w->at ? w->at : w->d->packed;
	uint64_t step;

	if (w->done == w->d->used)
		return false;
	w->done++;
	if (!w->d->is_packed)
		return next_of_table(w, item);
	at = get(at, &step);
	at = get(at, &item->weight);
	w->at = get_wide(at, &item->above);
	item->key = w->key += (uint32_t)step;
	return true;
}

/* Writes a bin behind `key`. Returns its end. */
static inline uint8_t *put_item(uint8_t *to, uint32_t key, const struct dist_item *i)
{
	return put_wide(put(put(to, i->key - key), i->weight), i->above);
}

/* Writes bins in order, merging those with equal keys. */
struct packer {
	uint8_t *to;
	uint32_t key, count; /* key of the last one written */
	struct dist_item held;
};

static inline void flush(struct packer *p)
{
	if (!p->held.key)
		return;
	p->to = put_item(p->to, p->key, &p->held);
	p->key = p->held.key;
	p->count++;
}

static inline void pack(struct packer *p, const struct dist_item *i)
{
	if (i->key != p->held.key) {
		flush(p);
		p->held = *i;
		return;
	}
	p->held.weight += i->weight;
	p->held.above += i->above;
}

/* Converts an item to a wider bin. */
static void widen(struct dist_item *i, unsigned int from, unsigned int to)
{
	uint64_t begin = begin_of_key(i->key, from), above;

	i->key = (bin_of(begin, to, &above) + 1) | (i->key & BELOW);
	i->above += (unsigned __int128)above * i->weight;
}

static void merge(const struct dist *d, struct packer *p, const struct dist_item *more, uint32_t n,
	unsigned int coarse)
{
	struct dist_walk w = {.d = d};
	struct dist_item old, item;
	bool has_old = dist_next(&w, &old);

	while (has_old || n) {
		if (n && (!has_old || more->key < old.key)) {
			item = *more++;
			n--;
		} else {
			item = old;
			has_old = dist_next(&w, &old);
		}
		if (coarse != d->coarse)
			widen(&item, d->coarse, coarse);
		pack(p, &item);
	}
	flush(p);
}

/* Skips the weight and the sum. */
static inline const uint8_t *skip(const uint8_t *from, const uint8_t *end)
{
	uint64_t next, last;

	if (end - from >= (ptrdiff_t)sizeof(next)) {
		memcpy(&next, from, sizeof(next));
		last = ~le64toh(next) & 0x8080808080808080; /* the last byte of each number */
		last &= last - 1;
		if (last)
			return from + __builtin_ctzll(last) / 8 + 1;
	}
	for (int i = 0; i < 2; i++)
		while (*from++ & 128)
			;
	return from;
}

/* Packed bins being read while others are inserted between them. */
struct old_bins {
	const uint8_t *at, *end; /* next bin */
	uint32_t left, key;      /* number of bins left; key before the next one */
};

/* Copies bins before `key`, all if it is 0. The output begins at a new key. */
static void copy_bins(struct old_bins *old, struct packer *p, uint32_t key)
{
	const uint8_t *run = NULL, *rest;
	uint64_t step;

	for (; old->left; old->left--) {
		rest = get(old->at, &step);
		if (key && old->key + (uint32_t)step >= key)
			break;
		old->key += (uint32_t)step;
		p->count++;
		if (!run) {
			p->to = put(p->to, old->key - p->key);
			run = rest;
			if (!key) { /* nothing changes after this */
				p->count += old->left - 1;
				old->at = old->end;
				break;
			}
		}
		old->at = skip(rest, old->end);
	}
	if (!run)
		return;
	memcpy(p->to, run, (size_t)(old->at - run));
	p->to += old->at - run;
	p->key = old->key;
}

/* Merges packed bins that keep their width: most of them are only copied. */
static void merge_packed(
	const struct dist *d, struct packer *p, const struct dist_item *more, uint32_t n)
{
	struct old_bins old = {d->packed, d->packed + d->size, d->used, 0};

	while (n) {
		uint64_t step = 0, weight;
		const uint8_t *rest = NULL;

		p->held = *more++;
		n--;
		for (; n && more->key == p->held.key; n--, more++) {
			p->held.weight += more->weight;
			p->held.above += more->above;
		}
		copy_bins(&old, p, p->held.key);
		if (old.left)
			rest = get(old.at, &step);
		if (old.left && old.key + (uint32_t)step == p->held.key) {
			unsigned __int128 above;

			old.at = get_wide(get(rest, &weight), &above);
			p->held.weight += weight;
			p->held.above += above;
			old.key = p->held.key;
			old.left--;
		}
		flush(p);
	}
	copy_bins(&old, p, 0);
}

static void free_wide(struct dist *d)
{
	while (d->more && d->more->wide) {
		struct dist_wide *w = d->more->wide;

		d->more->wide = w->next;
		free(w);
	}
}

static void free_table(struct dist *d)
{
	dist_account(d, 0, d->size * sizeof(*d->bins), true);
	free(d->bins);
	free_wide(d);
	d->bins = NULL;
	d->used = d->size = 0;
}

static bool keep_packed(struct dist *d, const struct packer *p, const uint8_t *from)
{
	size_t size = (size_t)(p->to - from), room = dist_room(size), had = dist_room(d->size);
	uint8_t *packed = d->packed;

	if (!packed || room != had) {
		packed = mg_malloc(room);
		if (!packed)
			return false;
		dist_account(d, room, had, false);
		free(d->packed);
	}
	memcpy(packed, from, size);
	d->packed = packed;
	d->size = (uint32_t)size;
	d->used = p->count;
	d->is_packed = true;
	return true;
}

static bool pack_all(struct dist *d, const struct dist_item *more, uint32_t n, unsigned int coarse)
{
	uint8_t few[ON_STACK * ITEM_MAX];
	uint32_t items = d->used + n;
	uint8_t *room = items <= ON_STACK ? few : mg_malloc((size_t)items * ITEM_MAX);
	struct packer p = {.to = room};
	bool done;

	if (!room)
		return false;
	if (d->is_packed && coarse == d->coarse)
		merge_packed(d, &p, more, n);
	else
		merge(d, &p, more, n, coarse);
	done = keep_packed(d, &p, room);
	if (done)
		d->coarse = (uint8_t)coarse;
	if (room != few)
		free(room);
	return done;
}

/* Replaces bytes [from, to) of the packed bins. Returns false if memory is short. */
static bool replace(struct dist *d, size_t from, size_t to, const uint8_t *by, size_t bytes)
{
	size_t size = d->size - (to - from) + bytes;
	size_t room = dist_room(size), had = dist_room(d->size);
	uint8_t *more = room > had ? mg_realloc(d->packed, room) : d->packed;

	if (!more)
		return false;
	if (room > had)
		dist_account(d, room, had, false);
	d->packed = more;
	memmove(d->packed + from + bytes, d->packed + to, d->size - to);
	memcpy(d->packed + from, by, bytes);
	d->size = (uint32_t)size;
	return true;
}

/* Adds one bin of the same width in place: packing all of them anew takes much longer. */
static bool add_one(struct dist *d, struct dist_item item)
{
	struct old_bins old = {d->packed, d->packed + d->size, d->used, 0};
	uint8_t by[ITEM_MAX + 8], *end;
	const uint8_t *rest = old.at, *to;
	uint64_t step = 0, weight;
	bool is_new = true;

	for (; old.left; old.left--) {
		rest = get(old.at, &step);
		if (old.key + (uint32_t)step >= item.key)
			break;
		old.key += (uint32_t)step;
		old.at = rest = skip(rest, old.end);
	}
	to = rest;
	if (old.left && old.key + (uint32_t)step == item.key) {
		unsigned __int128 above;

		to = get_wide(get(rest, &weight), &above);
		item.weight += weight;
		item.above += above;
		is_new = false;
	}
	end = put_item(by, old.key, &item);
	if (old.left && is_new) /* the next one's distance is from this one, now */
		end = put(end, old.key + (uint32_t)step - item.key);
	if (!replace(d, (size_t)(old.at - d->packed), (size_t)(to - d->packed), by,
		    (size_t)(end - by)))
		return false;
	d->used += is_new;
	return true;
}

bool dist_pack(struct dist *d, const struct dist_item *more, uint32_t n, unsigned int coarse)
{
	bool in_place = n == 1 && d->is_packed && coarse == d->coarse;

	return in_place ? add_one(d, *more) : pack_all(d, more, n, coarse);
}

static int by_key(const void *a, const void *b)
{
	const struct dist_item *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

bool dist_pack_table(struct dist *d)
{
	struct dist_item *all = mg_malloc((d->used + 1) * sizeof(*all));
	struct dist_walk w = {.d = d};
	struct dist old = *d;
	uint32_t n = 0;

	if (!all)
		return false;
	while (dist_next(&w, &all[n]))
		n++;
	qsort(all, n, sizeof(*all), by_key);
	d->bins = NULL;
	d->used = d->size = 0;
	if (dist_pack(d, all, n, d->coarse)) {
		free_table(&old);
	} else {
		*d = old;
		n = 0;
	}
	free(all);
	return n > 0 || !old.used;
}

void dist_coarsen(struct dist *d, unsigned int coarse)
{
	if (d->is_packed && d->used > DIST_FEW && d->coarse < coarse)
		dist_pack(d, NULL, 0, coarse);
}
