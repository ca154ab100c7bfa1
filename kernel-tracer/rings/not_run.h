/* SPDX-License-Identifier: MIT */
/*
 * Some machines run no tracing program while a thread of process 1 is current, and count no miss.
 * Netfilter's programs do run then: a packet that only they have seen shows it.
 */
#ifndef MAGNET_KERNEL_TRACER_RINGS_NOT_RUN_H
#define MAGNET_KERNEL_TRACER_RINGS_NOT_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"

#define NOT_RUN_PROCESS 1

/* what has been found out: the machine is one of these, or it is not */
enum not_run { NOT_RUN_UNKNOWN, NOT_RUN_HERE, NOT_RUN_NEVER };

/* a CPU's events while process 1 runs on it; all 0 at first */
struct not_run_cpu {
	uint64_t packets; /* that reached or left IP; each has at least one event less */
	uint64_t from_ns; /* the last event before */
	bool received;    /* one of them was received: it had passed a tracing program */
};

/* Call it for each event of process 1. `before_ns` is the time of the CPU's event before it. */
void not_run_see(
	enum not_run *is, struct not_run_cpu *at, const struct mg_slot *s, uint64_t before_ns);

/*
 * Call it for the first event of another process. `traced` says whether received packets pass a
 * tracing program. Returns how many packets lack events since at->from_ns.
 */
uint64_t not_run_end(enum not_run *is, struct not_run_cpu *at, bool traced);

#endif
