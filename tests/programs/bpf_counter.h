/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
#ifndef MAGNET_TESTS_BPF_COUNTER_H
#define MAGNET_TESTS_BPF_COUNTER_H

#include <linux/types.h>

/* A reading of the kernel's clock with the cycle counter before and after it. */
struct around {
	__u64 before, ns, after; /* counter minus its value when the perf event was opened */
	__u64 cpu;
};

#endif
