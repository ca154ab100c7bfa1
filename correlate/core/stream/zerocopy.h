/* SPDX-License-Identifier: MIT */
/*
 * Sends with MSG_ZEROCOPY: how long the kernel held the program's pages after the call. The kernel
 * numbers the sends of a socket, and tells which numbers it is done with.
 */
#ifndef MAGNET_CORRELATE_ZEROCOPY_H
#define MAGNET_CORRELATE_ZEROCOPY_H

#include <stdbool.h>
#include <stdint.h>

#include "sums/dist.h"

#define ZEROCOPY_TOLD 4

struct zerocopy {
	uint64_t sends;   /* calls' messages whose pages the kernel took */
	uint64_t copied;  /* of those it is done with: it had copied them all the same */
	uint64_t unsure;  /* of these sends it is not known which they were, or when they ended */
	struct dist hold; /* cycles, from the call's return until it was done with them */
	/* by their numbers, of those it is not done with: since when */
	struct zerocopy_send {
		uint32_t id;
		uint64_t t;
	} * held;
	uint32_t head, len, cap;
	/* numbers it was done with lately: a call may return after that */
	struct zerocopy_told {
		uint32_t first, last;
		uint64_t t;
		bool copied, known;
	} told[ZEROCOPY_TOLD];
	uint32_t next_told;
	struct zerocopy_told taken; /* out of the error queue, last, and not told */
	uint64_t empty;             /* when it was found empty, and nobody has said why; 0: no */
};

/* Of those still held, the ones that must have ended since, though it was not seen. */
uint64_t zerocopy_missed(const struct zerocopy *z);

struct core;
struct mg_event;

void zerocopy_on_sent(struct core *c, const struct mg_event *e);
void zerocopy_on_done(struct core *c, const struct mg_event *e);
void zerocopy_free(struct zerocopy *z);

#endif
