/* SPDX-License-Identifier: MIT */
/*
 * Statistics of context switches and of threads' waits for a CPU, from facts (method, "Scheduler").
 */
#ifndef MAGNET_CORRELATE_FIGURES_SCHEDULER_H
#define MAGNET_CORRELATE_FIGURES_SCHEDULER_H

#include "core/contract.h"
#include "figures/blocked.h"
#include "sums/dist.h"

enum switch_kind { SWITCH_TASK_TASK, SWITCH_TO_IDLE, SWITCH_FROM_IDLE, SWITCH_KINDS };

struct switch_stats {
	uint64_t n;
	struct dist total_ns;          /* duration, of the switches whose duration is known */
	uint64_t decide_ns, reload_ns; /* the two parts of the duration, summed */
	uint64_t interrupted;          /* switches not measured, as an interrupt came in between */
};

struct sched_stats {
	struct dist wakeup; /* waking to switch-in, cycles */
	/* the part of wakeup until the thread is on a run queue, cycles */
	struct dist queueing;
	/* wait of a woken or preempted thread on the run queue until it runs, cycles */
	struct dist run_queue;
	struct dist throttled;         /* those of them for the CPU quota of a cgroup */
	struct switch_stats *switches; /* CPU * SWITCH_KINDS + enum switch_kind */
	int cpus;
	uint64_t migrations;
	struct blocked_stats blocked;
};

/* Registers for every wait and switch of the core from now on. */
void sched_listen(struct sched_stats *s, struct core *c);
void sched_free(struct sched_stats *s);

#endif
