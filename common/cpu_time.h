/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_COMMON_CPU_TIME_H
#define MAGNET_COMMON_CPU_TIME_H

#include <stdint.h>

/*
 * Returns the CPU time that this process has used, ns: of all its threads, and of those that have
 * ended.
 */
uint64_t own_cpu_ns(void);

/* Times at which a recorder began and ended recording, and its CPU time by then. */
struct own_use {
	uint64_t began_ns, began_cpu_ns;
	uint64_t ceased_ns, ceased_cpu_ns; /* 0 while it records */
};

void own_use_begin(struct own_use *u);
void own_use_cease(struct own_use *u);
/* Return how long it recorded, up to now if it still does, and the CPU time of that. */
uint64_t own_use_running_ns(const struct own_use *u);
uint64_t own_use_running_cpu_ns(const struct own_use *u);

/*
 * Returns the CPU time that a hypervisor took since the machine was started, of all CPUs, ns; -1 if
 * unknown.
 */
int64_t stolen_cpu_ns(void);

#endif
