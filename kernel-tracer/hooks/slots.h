/* SPDX-License-Identifier: MIT */
/* Where in a ring (ring.h) the slot of a position is. */
#ifndef MAGNET_KERNEL_TRACER_SLOTS_H
#define MAGNET_KERNEL_TRACER_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"

struct ring_shape {
	uint64_t mask;
	unsigned int shift;
	uint64_t near_mask; /* of the near slots, which are all if the ring is small */
	unsigned int near_shift;
};

/* Whether the slot is filled, in this lap: laps are 16 bits, but an emptied slot has no id. */
static inline bool is_lap(const struct mg_slot *s, uint64_t *word, uint64_t lap)
{
	*word = __atomic_load_n((const uint64_t *)s, __ATOMIC_ACQUIRE);
	return (uint16_t)(*word >> 32) == (uint16_t)lap && *word >> 48;
}

/* The slot of a position; NULL if it is taken, but not filled yet. */
static inline struct mg_slot *find_slot(
	const struct ring_shape *shape, struct mg_ring *ring, uint64_t position, uint64_t *word)
{
	struct mg_slot *s = &ring->slot[position & shape->near_mask];

	if (is_lap(s, word, (position >> shape->near_shift) + 1))
		return s;
	if (shape->near_mask == shape->mask)
		return NULL;
	s = &ring->slot[shape->near_mask + 1 + (position & shape->mask)];
	return is_lap(s, word, (position >> shape->shift) + 1) ? s : NULL;
}

/* After a far slot was read: nothing older than a lap may stay at either of its two places. */
static inline void forget_far(const struct ring_shape *shape, struct mg_ring *ring,
	uint64_t position, const struct mg_slot *s)
{
	struct mg_slot *near = &ring->slot[position & shape->near_mask];

	if (s == near)
		return;
	near->id = 0;
	ring->slot[shape->near_mask + 1 + (position & shape->mask)].id = 0;
}

#endif
