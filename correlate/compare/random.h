/* SPDX-License-Identifier: MIT */
/* Random numbers for resampling: splitmix64 (Steele, Lea & Flood 2014). */
#ifndef MAGNET_CORRELATE_RANDOM_H
#define MAGNET_CORRELATE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* an arbitrary number, the same in every run, so that reports are reproducible */
#define RANDOM_SEED 0x6d61676e65743031ull

static inline uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

/* Returns one of 0 to n - 1. */
static inline size_t random_below(uint64_t *state, size_t n)
{
	return (size_t)((unsigned __int128)random_next(state) * n >> 64);
}

#endif
