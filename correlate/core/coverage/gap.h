/* SPDX-License-Identifier: MIT */
/* Intervals in which events are missing, and the figures that lack them. */
#ifndef MAGNET_CORRELATE_CORE_COVERAGE_GAP_H
#define MAGNET_CORRELATE_CORE_COVERAGE_GAP_H

#include "core.h"
#include "event_table.h"

/* Adds a gap to those of the recording. Returns false if memory is short. */
bool gap_keep(struct core *c, struct gap *g);
/* Reports that a side has no events between these times. */
void gap_not_covered(struct core *c, enum core_side which, uint64_t from_ns, uint64_t to_ns);
/* Return the layers and the events that a loss may concern. */
uint32_t gap_layers_of(const struct mg_lost *p);
struct mg_events gap_events_of(const struct mg_lost *p);
/* Returns whether a reader reported the loss, instead of an event of the trace. */
bool gap_is_of_reader(const struct mg_event *e);
/*
 * Notes an interval in which events of these layers are missing. Returns NULL if it is known
 * already, or the clock is not.
 */
const struct hole *gap_note_hole(
	struct core *c, uint32_t layers, int32_t cpu, uint64_t from_ns, uint64_t to_ns);
/* Returns whether a layer's events of [from, to) may be missing on one of these CPUs; -1 = any. */
bool gap_within(const struct core *c, enum mg_layer layer, uint64_t from, uint64_t to, int cpu_a,
	int cpu_b);
/* Notes with a socket that such events of its life are missing. */
void gap_mark(struct mg_sock *s, uint32_t layers, struct mg_events events);
/* Leaves out spacings of the socket's packets that reach across these missing events. */
void gap_touch(const struct core *c, struct mg_sock *s, const struct hole *h);
/* Marks a socket that is first met within a gap, which was reported at its begin. */
void gap_on_new_socket(struct core *c, struct mg_sock *s);

#endif
