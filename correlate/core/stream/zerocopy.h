/* SPDX-License-Identifier: MIT */
/*
 * Sends with MSG_ZEROCOPY: how long the kernel held the program's pages after the call. The kernel
 * numbers the sends of a socket, and reports the numbers it has finished with.
 */
#ifndef MAGNET_CORRELATE_ZEROCOPY_H
#define MAGNET_CORRELATE_ZEROCOPY_H

#include <stdbool.h>
#include <stdint.h>

#define ZEROCOPY_TOLD 4

struct zerocopy {
	uint64_t sends;  /* messages of calls whose pages the kernel took */
	uint64_t copied; /* finished ones that the kernel had copied after all */
	uint64_t unsure; /* sends whose number or end is not certain */
	/* unfinished ones by number, with the time since when */
	struct zerocopy_send {
		uint32_t id;
		uint64_t t;
	} * held;
	uint32_t head, len, cap;
	/* numbers finished lately: a call may return after that */
	struct zerocopy_told {
		uint32_t first, last;
		uint64_t t;
		bool copied, known;
	} told[ZEROCOPY_TOLD];
	uint32_t next_told;
	struct zerocopy_told taken; /* last one removed from the error queue without its event */
	/* time the queue was found empty, without an explanation yet; 0: not */
	uint64_t empty;
};

/* Returns how many held sends must have ended since, though it was not seen. */
uint64_t zerocopy_missed(const struct zerocopy *z);

struct core;
struct mg_event;

void zerocopy_on_sent(struct core *c, const struct mg_event *e);
void zerocopy_on_done(struct core *c, const struct mg_event *e);
void zerocopy_free(struct zerocopy *z);

#endif
