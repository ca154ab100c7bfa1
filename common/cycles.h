/* SPDX-License-Identifier: MIT */
/* The cycle counter. Values are comparable across CPUs where mg_counter_invariant() holds. */
#ifndef MAGNET_COMMON_CYCLES_H
#define MAGNET_COMMON_CYCLES_H

#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#define MG_COUNTER_NAME "tsc"
/* rdtscp waits for what came before, lfence keeps what follows behind (Paoloni 2010). */
static inline uint64_t mg_cycles(void)
{
	unsigned int aux;
	uint64_t t = __rdtscp(&aux);
	_mm_lfence();
	return t;
}
#elif defined(__aarch64__)
#define MG_COUNTER_NAME "cntvct_el0"
static inline uint64_t mg_cycles(void)
{
	uint64_t t;
	__asm__ volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(t)::"memory");
	return t;
}
#else
#error "magnet knows the cycle counters of x86-64 and arm64"
#endif

#endif
