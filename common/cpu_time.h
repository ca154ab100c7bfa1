/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_COMMON_CPU_TIME_H
#define MAGNET_COMMON_CPU_TIME_H

#include <stdint.h>
#include <sys/types.h>

/* CPU time all threads of a process have used, ns, by the scheduler's own account; 0 if unknown. */
uint64_t process_cpu_ns(pid_t pid);
/* CPU time a hypervisor gave to others since this machine began, of all CPUs, ns; -1 if unknown. */
int64_t stolen_cpu_ns(void);

#endif
