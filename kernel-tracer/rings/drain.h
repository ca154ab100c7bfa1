/* SPDX-License-Identifier: MIT */
/* Writing events from the rings into the trace. */
#ifndef MAGNET_KERNEL_TRACER_RINGS_DRAIN_H
#define MAGNET_KERNEL_TRACER_RINGS_DRAIN_H

#include <stdint.h>

#include "callers.h"
#include "ctf.h"
#include "event_set.h"
#include "events.h"
#include "hooks/hooks.h"

struct drain;
/* Makes a drain; events already in the rings, from calibration, are skipped. */
int drain_new(struct drain **out, struct hooks *h, struct ctf_writer *w);
/* Has the names of drops asked for by this program and map; negative: they are read from lists. */
void drain_ask_names(struct drain *d, int program, int map);
/*
 * Makes one pass over all rings. Returns the fullest ring's fill in percent, or a negative errno. A
 * loss is written with the next event of its CPU, or some passes later if there is none.
 */
int drain_pass(struct drain *d);
/* Returns whether the last pass left an event in a ring, to be read later. */
bool drain_has_left(const struct drain *d);
/* Makes one pass and waits for the names of drops, so that no event stays in a ring. */
int drain_pass_all(struct drain *d);
/* Makes a pass and reports all losses, before the trace is cut. Returns 0 or a negative errno. */
int drain_cut(struct drain *d);
/*
 * Ends the recording on all CPUs at once, so that hooks can be detached one by one. Returns 0 or a
 * negative errno.
 */
int drain_stop(struct drain *d);
/* Makes the last pass. */
int drain_finish(struct drain *d);
/* Records nothing until drain_resume(); the events of that time are reported as a gap. */
int drain_pause(struct drain *d);
int drain_resume(struct drain *d);
/* Passes these events to `see` as they are read. */
void drain_watch(struct drain *d, struct mg_events of,
	void (*see)(void *arg, const struct mg_slot *s), void *arg);
/* Writes an event of the tracer's own with the current time. */
int drain_note(struct drain *d, uint16_t id, const void *payload, uint32_t size);
/*
 * Writes programs skipped since the last call as `lost` events. Returns the time in ns until the
 * next check, which is short while programs are being skipped so that each loss has an exact place;
 * or a negative errno.
 */
int64_t drain_check_misses(struct drain *d);
uint64_t drain_lost(const struct drain *d);
uint64_t drain_lost_on(const struct drain *d, int cpu); /* losses to a full ring */
uint64_t drain_not_recorded(const struct drain *d);     /* events during pauses, not lost */
/* losses for another reason than a full ring */
uint64_t drain_skipped(const struct drain *d);
/* Returns the processes whose system calls were recorded. */
const struct callers *drain_callers(struct drain *d);
void drain_free(struct drain *d);

#endif
