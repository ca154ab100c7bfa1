/* SPDX-License-Identifier: MIT */
/* Sends with MSG_ZEROCOPY by the kernel's numbers, which wrap at 32 bits. */
#ifndef MAGNET_CORRELATE_CORE_BYTES_ZEROCOPY_SENDS_H
#define MAGNET_CORRELATE_CORE_BYTES_ZEROCOPY_SENDS_H

#include <stdbool.h>
#include <stdint.h>

#define ZEROCOPY_NOTICES 4

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
	struct zerocopy_notice {
		uint32_t first, last;
		uint64_t t;
		bool copied, known;
	} notice[ZEROCOPY_NOTICES];
	uint32_t next_notice;
	struct zerocopy_notice taken; /* last one removed from the error queue without its event */
	/* time the queue was found empty, without an explanation yet; 0: not */
	uint64_t empty;
};

/* Returns whether a number lies between two others, both included. */
static inline bool zerocopy_within(uint32_t id, uint32_t first, uint32_t last)
{
	return id - first <= last - first;
}
/* Returns the index of the first held send with this number or a later one. */
uint32_t zerocopy_lower_bound(const struct zerocopy *z, uint32_t id);
/*
 * Inserts a send, nearly always at the end; of two threads the one numbered first may return last.
 */
void zerocopy_hold(struct zerocopy *z, uint32_t id, uint64_t t);
/* Returns the notification that had this number; NULL if none of the latest did. */
const struct zerocopy_notice *zerocopy_notice_of(const struct zerocopy *z, uint32_t id);
/* Notes a notification; one that has grown includes its earlier range. */
void zerocopy_note(struct zerocopy *z, const struct zerocopy_notice *n);
/* Returns how many held sends must have ended since, though it was not seen. */
uint64_t zerocopy_missed(const struct zerocopy *z);

void zerocopy_free(struct zerocopy *z);

#endif
