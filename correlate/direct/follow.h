/* SPDX-License-Identifier: MIT */
/*
 * Reads a recording while it is written: the files and the order of direct.h, as far as every
 * stream is known to be complete.
 *
 * The recorders write whole packets. The tracer flushes the streams of all CPUs before its own, in
 * which ten times a second a clock reading says up to which time they are complete; so a CPU that
 * is idle holds up nothing. The application side has one stream in order of time, and an event in
 * it while no program calls. Events are passed on up to the earliest of both times. A side that has
 * told nothing for FOLLOW_PATIENCE_NS is no longer waited for; what it writes behind the events
 * that were passed on by then is counted as late and reported to the core as missing.
 */
#ifndef MAGNET_CORRELATE_DIRECT_FOLLOW_H
#define MAGNET_CORRELATE_DIRECT_FOLLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/contract.h"

#define FOLLOW_PATIENCE_NS 2000000000ull

struct follow;

/*
 * Prepares to read the traces in these directories, which have metadata, into the core. `why` gets
 * the reason in words for every failure, also later ones. Returns 0; DIRECT_NOT_OURS for traces
 * that magnet did not write; or a negative errno. The caller frees in any case.
 */
int follow_open(struct follow **out, const char *const dirs[], size_t count, struct core *core,
	char *why, size_t why_size);
/*
 * Passes on what is complete; `now_ns` is the present time of CLOCK_MONOTONIC. Returns 0, 1 if it
 * should be called again at once, or a negative errno.
 */
int follow_read(struct follow *f, uint64_t now_ns);
/* Reads all that is there: nobody writes any more. Finishes the core. Returns 0 or an errno. */
int follow_finish(struct follow *f);
void follow_free(struct follow *f);

/* Returns whether each trace's end was written, and all before it was passed on. */
bool follow_has_ended(const struct follow *f);
/* Returns the time up to which all is passed on, ns of CLOCK_MONOTONIC; 0: nothing is yet. */
uint64_t follow_until_ns(const struct follow *f);
/* Returns whether a side is not waited for, as it tells nothing. */
bool follow_is_stalled(const struct follow *f, enum core_side side);
/* Returns for how long no side has told anything, ns. */
uint64_t follow_silent_ns(const struct follow *f, uint64_t now_ns);
/* Returns the number of events that came late. */
uint64_t follow_late(const struct follow *f);

#endif
