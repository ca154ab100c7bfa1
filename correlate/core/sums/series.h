/* SPDX-License-Identifier: MIT */
/*
 * Every unit that passed a layer, kept for figures that need them one by one: a few bytes each, and
 * all series of a recording together not more than the pool allows.
 */
#ifndef MAGNET_CORRELATE_SERIES_H
#define MAGNET_CORRELATE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct series_pool {
	size_t limit; /* bytes; 0 = nothing is kept */
	size_t used;
};

struct series_unit {
	uint64_t t;     /* cycles */
	uint32_t size;  /* payload, bytes */
	uint32_t frame; /* with headers, 0 where the layer does not see them */
	bool again;     /* brings only bytes that had passed before: no unit, but a frame */
};

struct series {
	struct series_pool *pool;
	uint8_t *data; /* differences, of varying length */
	size_t used, cap;
	uint64_t n, t;           /* encoded, and the last one's time */
	struct series_unit last; /* not encoded yet: what its frame is comes later */
	bool has_last;
	bool cut; /* the pool was full */
};

/* `count` of them side by side, empty; NULL if the pool keeps nothing. */
struct series *series_new(struct series_pool *pool, int count);
void series_add(struct series *s, uint64_t t, uint64_t size, bool again);
/* Of the one added last. */
void series_add_bytes(struct series *s, uint64_t bytes);
void series_set_frame(struct series *s, uint64_t bytes);
uint64_t series_count(const struct series *s);
/* To `out` with room for series_count(), as they were added. */
void series_read(const struct series *s, struct series_unit *out);
/* As many as series_new() made. */
void series_free(struct series *s, int count);

#endif
