/* SPDX-License-Identifier: MIT */
/* Declarations that why.c and why_split.c share. */
#ifndef MAGNET_CORRELATE_WHY_PARTS_H
#define MAGNET_CORRELATE_WHY_PARTS_H

#include "core.h"

/* The labels of the first byte of a segment. */
struct why_found {
	enum why_reason reason;
	enum why_release release;
};

/* why.c */
/* Returns why a segment that is not full waits: corked, or Nagle's rule; otherwise not known. */
enum why_reason why_of_small(const struct why *w, uint8_t nagle, uint64_t una);
/* Returns what holds a segment that waits for the device. */
enum why_reason why_of_device(const struct why *w, uint64_t off, bool full);
/* Returns whether preceding bytes were in a queue of this host when TCP last tried to send. */
bool why_lay_behind_others(
	const struct core *c, const struct mg_sock *s, uint64_t off, enum why_release release);
/* Returns the piece of the running call that has this byte, NULL if it is another call's. */
const struct piece *why_own_piece(const struct kernel_call *k, uint64_t off);

/* why_split.c: the wait divided in time */
/*
 * Call it when a call is about to copy bytes from offset `next` on, at most up to `end`; bytes from
 * `unsent` on have not been sent. TCP has reported its windows.
 */
void split_on_write(struct why *w, uint64_t unsent, uint64_t next, uint64_t end, uint64_t t);
/* Call it when the call has returned, and all bytes before `end` are written. */
void split_on_written(struct why *w, uint64_t end);
/*
 * Call it when a segment of the peer's arrives for which TCP has no event. Either the windows
 * before it are known, or only whether the peer's was zero.
 */
void split_on_arrival(struct why *w, bool known, bool zero_window, uint64_t t);
/* Evaluates the windows reported at `due`, before anything happens after it. */
void split_due(struct why *w);
/* Call it when a segment with new bytes from `off` on is handed to IP. */
void split_on_out(struct core *c, const struct thread *t, struct mg_sock *s,
	const struct mg_packet *p, uint64_t off, struct why_found found, uint64_t now);

#endif
