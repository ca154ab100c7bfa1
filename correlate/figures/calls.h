/* SPDX-License-Identifier: MIT */
/* Calls by function and kind of socket, summed up from facts (method, "System-call overhead"). */
#ifndef MAGNET_CORRELATE_FIGURES_CALLS_H
#define MAGNET_CORRELATE_FIGURES_CALLS_H

#include "core/core.h"
#include "hash.h"

struct call_key {
	uint16_t id; /* MG_FN_*, or 0x100 | MG_SYS_* for calls without an application event */
	uint8_t kind, pad;
};
#define CALL_KERNEL_ONLY 0x100

struct call_stats {
	struct call_key key;
	uint64_t n, failed, bytes, joined;
	uint64_t missing; /* not joined, and their system call may have been lost */
	/* not joined: before the kernel's first event, and since the one of this number */
	uint64_t before, alone, alone_at;
	/* of the joined, or of those that are kernel-only: nothing of what they did is missing. The
	 * figures below are of these alone, and of such only where the scheduler is recorded */
	uint64_t complete;
	uint64_t blocked_n;
	struct dist total; /* cycles, of all */
	/* on the CPU, less probes and readings; of calls that did not block, and that did */
	struct dist overhead, overhead_blocked;
	double uncertainty, uncertainty_blocked; /* 2u of one call's overhead, cycles: means */
	unsigned __int128 state[STATES];         /* cycles */
	unsigned __int128 locked_out;            /* of blocked: cycles, for the socket's lock */
	unsigned __int128 probe_cycles;          /* what the kernel's events cost, taken off */
	unsigned __int128 reading_cycles;        /* and the two readings of the counter */
	uint64_t waker_events; /* recorded by wakers: blocked may be longer for their cost */
	UT_hash_handle hh;
};

struct call_table {
	struct core *core;
	struct call_stats *calls;
	struct dist logged; /* cycles that a traced call spent in magnet */
};

/* Takes every call of the core from now on. */
void call_table_listen(struct call_table *t, struct core *c);
/* Adds what is known only when the recording is over; after that the table does not change. */
void call_table_finish(struct call_table *t);
void call_table_free(struct call_table *t);

#endif
