/* SPDX-License-Identifier: MIT */
/*
 * Every packet that passed a layer, for statistics that need them one by one: a few bytes each, and
 * all series of a recording together at most what the pool allows.
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
	bool again;     /* only bytes that had passed before: counts as a frame, not as a packet */
};

struct series {
	struct series_pool *pool;
	uint8_t *data; /* differences, of variable length */
	size_t used, cap;
	uint64_t n, t;           /* number of encoded packets, and the last one's time */
	struct series_unit last; /* last packet, not encoded yet, as its frame size comes later */
	bool has_last;
	bool cut; /* the pool was full */
};

/* Returns `count` empty series in an array; NULL if the pool keeps nothing. */
struct series *series_new(struct series_pool *pool, int count);
void series_add(struct series *s, uint64_t t, uint64_t size, bool again);
/* Change the packet added last. */
void series_add_bytes(struct series *s, uint64_t bytes);
void series_set_frame(struct series *s, uint64_t bytes);
uint64_t series_count(const struct series *s);
/* Writes all packets in the order added to `out`, which has room for series_count(). */
void series_read(const struct series *s, struct series_unit *out);
/* `count` as given to series_new(). */
void series_free(struct series *s, int count);

#endif
