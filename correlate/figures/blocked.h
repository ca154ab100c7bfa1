/* SPDX-License-Identifier: MIT */
/* Sums up what threads were blocked in, from the fact `wait` (method, "Scheduler"). */
#ifndef MAGNET_CORRELATE_FIGURES_BLOCKED_H
#define MAGNET_CORRELATE_FIGURES_BLOCKED_H

#include "core/contract.h"
#include "hash.h"
#include "sums/dist.h"

/* Identity of a row; without padding, as it is compared as bytes. */
struct blocked_key {
	uint32_t pid;
	uint16_t port; /* of the peer; 0 and no address if none is known */
	uint8_t in;    /* enum fact_blocked, FACT_NO_WORD if not recorded */
	uint8_t io;
	uint8_t addr[16];
	const char *call;
};

/* Blocks of one process in one call for one peer. */
struct blocked_row {
	struct blocked_key key;
	const char *program; /* NULL: not known */
	struct dist time;    /* cycles */
	/* those whose wakeup was not recorded, and their time off the CPU, cycles */
	uint64_t undivided_n, undivided;
	UT_hash_handle hh;
};

#define BLOCKED_ROWS 1000
#define BLOCKED_BITS 65536
struct blocked_stats {
	struct blocked_row *rows;
	/* bits of hash values that rows have: with many peers, most waits belong to no row */
	uint64_t seen[BLOCKED_BITS / 64];
	uint64_t sum, n;    /* cycles of all blocks */
	uint64_t undivided; /* cycles off the CPU of those whose wakeup was not recorded */
	uint64_t rest;      /* cycles of those beyond the rows */
	uint64_t unknown;   /* blocks of which the trace does not say what they were in */
};

/* Adds a wait; one that is no block, or whose begin or end was not recorded, is left out. */
void blocked_add(struct blocked_stats *s, const struct fact_wait *f);
/* Returns the row after `last` in the order of time, the largest first; NULL at the end. */
const struct blocked_row *blocked_next(
	const struct blocked_stats *s, const struct blocked_row *last);
void blocked_stats_free(struct blocked_stats *s);

#endif
