/* SPDX-License-Identifier: MIT */
/* Bounds of each CPU counter's offset to that of the reference CPU (method, "Clock"). */
#ifndef MAGNET_CORRELATE_CPU_OFFSETS_H
#define MAGNET_CORRELATE_CPU_OFFSETS_H

#include <stdbool.h>
#include <stdint.h>

struct cpu_offset {
	int64_t low, high; /* cycles */
	bool known;
};

struct cpu_offsets {
	struct cpu_offset *cpu;
	uint32_t cap;
	uint32_t known; /* number of CPUs */
	bool certain;   /* some CPU certainly has an offset */
	double error;   /* cycles */
};

/*
 * Adds a measurement. Several for one CPU are intersected; if they contradict each other the offset
 * is not constant, and their union counts.
 */
void cpu_offsets_add(struct cpu_offsets *o, uint32_t cpu, int64_t low, int64_t high);
int64_t cpu_offsets_look_up(const struct cpu_offsets *o, int cpu);
/* Returns what to subtract from this CPU's counter: 0 unless an offset is certain. */
static inline int64_t cpu_offsets_correction(const struct cpu_offsets *o, int cpu)
{
	return o->certain ? cpu_offsets_look_up(o, cpu) : 0;
}
/* Returns the error of an interval that begins on one CPU and ends on another, cycles. */
static inline double cpu_offsets_error(const struct cpu_offsets *o)
{
	return o->error;
}
void cpu_offsets_free(struct cpu_offsets *o);

#endif
