/* SPDX-License-Identifier: MIT */
/*
 * Time at which each byte of a stream first passed a layer: byte ranges in order of offset, each
 * with one time. A byte counts once; a repeated byte (a retransmission) is reported, and noted
 * separately if wanted.
 */
#ifndef MAGNET_CORRELATE_CORE_BYTES_RANGES_H
#define MAGNET_CORRELATE_CORE_BYTES_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct range {
	uint64_t a, b; /* bytes [a, b) */
	uint64_t t;    /* cycles */
};

/*
 * Most lists never have two elements. The first one is therefore in the list itself: it has no
 * memory of its own to be fetched.
 */
struct ranges {
	union {
		struct range own;   /* cap == 0: the only element */
		struct range *list; /* else */
	};
	uint32_t head, len, cap; /* elements head .. head+len */
	uint32_t holes;          /* number of gaps between neighbouring elements */
	uint64_t base;           /* everything before is settled, and counts as seen */
};

/* Returns element number `i`, or where it would be. */
static inline struct range *ranges_at(const struct ranges *r, uint32_t i)
{
	struct range *first = r->cap ? r->list : (struct range *)(uintptr_t)&r->own;

	return first + r->head + i;
}

/* Returns the end of the last known bytes, with or without gaps before. */
static inline uint64_t ranges_end(const struct ranges *r)
{
	return r->len ? ranges_at(r, r->len - 1)->b : r->base;
}

uint64_t ranges_add_anywhere(
	struct ranges *r, struct ranges *again, uint64_t a, uint64_t b, uint64_t t);
/*
 * Adds bytes [a, b) at time t. Returns how many of them were new. Repeated bytes are added to
 * `again`, with the time of their first repetition.
 */
static inline uint64_t ranges_add_again(
	struct ranges *r, struct ranges *again, uint64_t a, uint64_t b, uint64_t t)
{
	uint32_t end = r->head + r->len;

	if (a != ranges_end(r) || a >= b ||
		(end && end >= r->cap)) /* not the usual case: what comes next */
		return ranges_add_anywhere(r, again, a, b, t);
	*ranges_at(r, r->len) = (struct range){a, b, t};
	r->len++;
	return b - a;
}
/* The same; repeated bytes are not noted. */
static inline uint64_t ranges_add(struct ranges *r, uint64_t a, uint64_t b, uint64_t t)
{
	return ranges_add_again(r, NULL, a, b, t);
}
/* Adds `by` to all offsets. */
void ranges_shift(struct ranges *r, uint64_t by);
/* Forgets everything before `upto`. */
void ranges_drop(struct ranges *r, uint64_t upto);
/* Forgets the oldest elements beyond `most`. */
void ranges_keep(struct ranges *r, uint32_t most);
/*
 * Returns the end of the bytes known without a gap from `from` on; `from` itself if that is not
 * known.
 */
uint64_t ranges_reach(const struct ranges *r, uint64_t from);
/*
 * Frees spare memory; an empty list takes none. Call it when the list will hardly be needed again.
 */
void ranges_trim(struct ranges *r);
void ranges_free(struct ranges *r);

/*
 * Cuts [a, b) at every boundary of every layer and passes each byte range to `fn` in order, with
 * its time in each layer; bit i of `present` says whether layer i has it. Layers must not have
 * dropped anything after a. `fn` may drop what it was given, and may not add. At most 16 layers;
 * NULL layers are absent.
 */
typedef void (*atom_fn)(void *arg, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present);
void ranges_atoms(const struct ranges *const layers[], int count, uint64_t a, uint64_t b,
	atom_fn fn, void *arg);

#endif
