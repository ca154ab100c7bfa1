/* SPDX-License-Identifier: MIT */
/* From the rings to the trace. */
#ifndef MAGNET_KERNEL_TRACER_RINGS_DRAIN_H
#define MAGNET_KERNEL_TRACER_RINGS_DRAIN_H

#include <stdint.h>

#include "callers.h"
#include "ctf.h"
#include "events.h"
#include "hooks/hooks.h"

struct drain;
/* What is in the rings already (calibration) is not part of the recording. */
int drain_new(struct drain **out, struct hooks *h, struct ctf_writer *w);
/*
 * One pass over all rings. Returns the fullest ring's fill in percent, or a negative errno. A loss
 * is told with the next event of its CPU, or some passes later if there is none.
 */
int drain_pass(struct drain *d);
/* The same, and nothing waits in a ring any more for the names of drops to be read. */
int drain_pass_all(struct drain *d);
/* A pass that tells all losses there are, before the trace is cut. Returns 0 or a negative errno.
 */
int drain_cut(struct drain *d);
/* The last pass. */
int drain_finish(struct drain *d);
/* Record nothing until it is resumed; what happens meanwhile is told as a gap. */
int drain_pause(struct drain *d);
int drain_resume(struct drain *d);
/* Show the events whose bits are in `mask` (ids below 64) as they are read. */
void drain_watch(
	struct drain *d, uint64_t mask, void (*see)(void *arg, const struct mg_slot *s), void *arg);
/* Write an event of the tracer's own, now. */
int drain_note(struct drain *d, uint16_t id, const void *payload, uint32_t size);
/*
 * Programs skipped since the last call become `lost` events. Returns when to look again, in ns:
 * soon while it happens, so that each loss has its place; or a negative errno.
 */
int64_t drain_check_misses(struct drain *d);
uint64_t drain_lost(const struct drain *d);
uint64_t drain_lost_on(const struct drain *d, int cpu); /* for want of room */
uint64_t drain_not_recorded(const struct drain *d);     /* while it paused; not lost */
uint64_t drain_skipped(const struct drain *d);          /* of these, not for want of room */
/* Who made system calls that were recorded. */
const struct callers *drain_callers(struct drain *d);
void drain_free(struct drain *d);

#endif
