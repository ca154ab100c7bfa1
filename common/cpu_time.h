/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_COMMON_CPU_TIME_H
#define MAGNET_COMMON_CPU_TIME_H

#include <stdint.h>

/* CPU time this process has used so far, ns: by all its threads, and by those that have ended. */
uint64_t own_cpu_ns(void);

/* When a recorder of ours began and ceased to record, and the CPU time it had used by then. */
struct own_use {
	uint64_t began_ns, began_cpu_ns;
	uint64_t ceased_ns, ceased_cpu_ns; /* 0 before it has ceased */
};

void own_use_begin(struct own_use *u);
void own_use_cease(struct own_use *u);
/* How long it recorded, up to now if it has not ceased, and the CPU time that took. */
uint64_t own_use_running_ns(const struct own_use *u);
uint64_t own_use_running_cpu_ns(const struct own_use *u);

/* CPU time a hypervisor gave to others since this machine began, of all CPUs, ns; -1 if unknown. */
int64_t stolen_cpu_ns(void);

#endif
