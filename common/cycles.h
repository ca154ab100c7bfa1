/* SPDX-License-Identifier: MIT */
/* The cycle counter. Values are comparable across CPUs where mg_counter_invariant() holds. */
#ifndef MAGNET_COMMON_CYCLES_H
#define MAGNET_COMMON_CYCLES_H

#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#define MG_COUNTER_NAME "tsc"
/*
 * Reads the counter once everything before has executed (rdtscp, Paoloni 2010). What follows may
 * begin earlier: call it where that is a system call or another reading, which wait by themselves.
 */
static inline uint64_t mg_cycles_after(void)
{
	unsigned int aux;

	return __rdtscp(&aux);
}

/* Reads the counter between what came before and what follows, which lfence keeps behind. */
static inline uint64_t mg_cycles(void)
{
	uint64_t t = mg_cycles_after();

	_mm_lfence();
	return t;
}
#elif defined(__aarch64__)
#define MG_COUNTER_NAME "cntvct_el0"
static inline uint64_t mg_cycles_after(void)
{
	uint64_t t;

	__asm__ volatile("isb; mrs %0, cntvct_el0" : "=r"(t)::"memory");
	return t;
}

static inline uint64_t mg_cycles(void)
{
	uint64_t t = mg_cycles_after();

	__asm__ volatile("isb" ::: "memory");
	return t;
}
#else
#error "magnet knows the cycle counters of x86-64 and arm64"
#endif

#endif
