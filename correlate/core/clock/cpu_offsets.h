/* SPDX-License-Identifier: MIT */
/*
 * Between which bounds the counter of each CPU is ahead of that of the CPU all were compared with
 * (method, "Clock").
 */
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
	uint32_t known; /* CPUs */
	bool certain;   /* that there is one, of some CPU */
	double error;   /* cycles */
};

/*
 * One measurement. Of several for a CPU what all agree on is kept; where they contradict each other
 * the offset is not constant, and what any of them allows is.
 */
void cpu_offsets_add(struct cpu_offsets *o, uint32_t cpu, int64_t low, int64_t high);
int64_t cpu_offsets_look_up(const struct cpu_offsets *o, int cpu);
/* What to take off this CPU's counter: 0 unless it is certain that there is an offset. */
static inline int64_t cpu_offsets_correction(const struct cpu_offsets *o, int cpu)
{
	return o->certain ? cpu_offsets_look_up(o, cpu) : 0;
}
/* By how much an interval that begins on one CPU and ends on another can be wrong, cycles. */
static inline double cpu_offsets_error(const struct cpu_offsets *o)
{
	return o->error;
}
void cpu_offsets_free(struct cpu_offsets *o);

#endif
