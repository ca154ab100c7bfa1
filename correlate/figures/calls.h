/* SPDX-License-Identifier: MIT */
/*
 * Statistics of calls by function and kind of socket, summed up from facts (method, "System-call
 * overhead").
 */
#ifndef MAGNET_CORRELATE_FIGURES_CALLS_H
#define MAGNET_CORRELATE_FIGURES_CALLS_H

#include "core/contract.h"
#include "figures/call_table.h"
#include "hash.h"
#include "sums/dist.h"

struct call_key {
	uint16_t id; /* MG_FN_*, or 0x100 | MG_SYS_* for calls without an application event */
	uint8_t kind, pad;
};
#define CALL_KERNEL_ONLY 0x100

#define CALL_COUNT(name, n)        uint64_t name;
#define CALL_SPAN(name, key, span) unsigned __int128 name; /* cycles */
struct call_stats {
	struct call_key key;
	MG_CALL_SUMS(CALL_COUNT, CALL_COUNT, CALL_SPAN)
	uint64_t missing; /* calls not joined whose system call may have been lost */
	/*
	 * calls not joined: those before its hooks were attached, all later ones, and the number
	 * of the first later one
	 */
	uint64_t before, alone, alone_at;
	struct dist total; /* cycles, of all calls */
	/*
	 * of the complete calls only, and only where the scheduler is recorded: cycles on the CPU,
	 * less events and readings: of calls that did not block, and of calls that did
	 */
	struct dist overhead, overhead_blocked;
	double uncertainty, uncertainty_blocked; /* mean 2u of one call's overhead, cycles */
	unsigned __int128 state[STATES];         /* cycles */
	/* cost of the kernel's events, taken off, cycles */
	unsigned __int128 probe_cycles;
	/* cost of the two readings of the counter, taken off, cycles */
	unsigned __int128 reading_cycles;
	uint64_t waker_events; /* events recorded by wakers: their cost may prolong blocked */
	UT_hash_handle hh;
};
#undef CALL_COUNT
#undef CALL_SPAN

struct call_table {
	struct core *core;
	struct call_stats *calls;
	struct dist logged; /* cycles that a traced call spent in magnet */
};

/* Registers for every call of the core from now on. */
void call_table_listen(struct call_table *t, struct core *c);
/* Completes the statistics once the recording is read; the table does not change afterwards. */
void call_table_finish(struct call_table *t);
void call_table_free(struct call_table *t);

#endif
