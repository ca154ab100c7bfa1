/* SPDX-License-Identifier: MIT */
/* Finds the slot of a position in a ring (ring.h). */
#ifndef MAGNET_KERNEL_TRACER_SLOTS_H
#define MAGNET_KERNEL_TRACER_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"

struct ring_shape {
	uint64_t mask;
	unsigned int shift;
	uint64_t near_mask; /* mask of the near slots, which are all slots of a small ring */
	unsigned int near_shift;
};

/*
 * Returns whether the slot is filled in this lap: a lap number has 16 bits, but an emptied slot has
 * id 0.
 */
static inline bool is_lap(const struct mg_slot *s, uint64_t *word, uint64_t lap)
{
	*word = __atomic_load_n((const uint64_t *)s, __ATOMIC_ACQUIRE);
	return (uint16_t)(*word >> 32) == (uint16_t)lap && *word >> 48;
}

/* Returns the slot of a position; NULL if it is reserved but not filled yet. */
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

/* Call it after a far slot was read: clears what an older lap left at the position's two places. */
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
