/* SPDX-License-Identifier: MIT */
/*
 * When each byte of a stream first passed a layer: byte ranges in order of offset, each with one
 * time. A byte counts once; what comes again (a retransmission) is told, and noted apart if asked.
 */
#ifndef MAGNET_CORRELATE_RANGES_H
#define MAGNET_CORRELATE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct range {
	uint64_t a, b; /* bytes [a, b) */
	uint64_t t;    /* cycles */
};

struct ranges {
	struct range *v;
	uint32_t head, len, cap; /* v[head .. head+len) */
	uint32_t holes;          /* between one of these and the next */
	uint64_t base;           /* everything before is done with, and counts as seen */
};

/* Note bytes [a, b) at time t; returns how many of them were new. */
uint64_t ranges_add(struct ranges *r, uint64_t a, uint64_t b, uint64_t t);
/* The same; those that were not new are noted in `again`, with the first time they came again. */
uint64_t ranges_add_again(
	struct ranges *r, struct ranges *again, uint64_t a, uint64_t b, uint64_t t);
/* Number all bytes `by` higher. */
void ranges_shift(struct ranges *r, uint64_t by);
/* Forget everything before `upto`. */
void ranges_drop(struct ranges *r, uint64_t upto);
/* Forget the older ones where there are more than so many. */
void ranges_keep(struct ranges *r, uint32_t most);
/* Where the bytes known without a gap from `from` on end; `from` itself if it is not known. */
uint64_t ranges_reach(const struct ranges *r, uint64_t from);
/* Where the last bytes known end, with or without gaps before. */
static inline uint64_t ranges_end(const struct ranges *r)
{
	return r->len ? r->v[r->head + r->len - 1].b : r->base;
}
/* It will hardly be needed again: without any ranges it takes no memory. */
void ranges_trim(struct ranges *r);
void ranges_free(struct ranges *r);

/*
 * Cut [a, b) at every boundary of every layer and hand over each piece ("atom") in order, with its
 * time in each layer; bit i of `present` tells whether layer i knows it. Layers must not have
 * dropped anything after a. `fn` may drop what it was handed, and may not add. At most 16 layers;
 * NULL layers are absent.
 */
typedef void (*atom_fn)(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present);
void ranges_atoms(const struct ranges *const layers[], int count, uint64_t a, uint64_t b,
	atom_fn fn, void *arg);

#endif
