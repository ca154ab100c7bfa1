/* SPDX-License-Identifier: MIT */
/* Intervals in which events are missing, and the figures that lack them. */
#ifndef MAGNET_CORRELATE_CORE_TRACE_GAP_H
#define MAGNET_CORRELATE_CORE_TRACE_GAP_H

#include "core.h"
#include "event_table.h"

/* Notes a loss as soon as it is read, before earlier events are processed. */
void gap_foresee(struct core *c, const struct mg_lost *p);
/* Leaves out spacings of the socket's packets that reach across these missing events. */
void gap_touch(const struct core *c, struct mg_sock *s, const struct hole *h);
/* Marks a socket that is first met within a gap, which was reported at its begin. */
void gap_on_new_socket(struct core *c, struct mg_sock *s);
/* Returns whether a reader reported the loss, instead of an event of the trace. */
bool gap_is_of_reader(const struct mg_event *e);
/* Returns whether a layer's events of [from, to) may be missing on one of these CPUs; -1 = any. */
bool gap_within(const struct core *c, enum mg_layer layer, uint64_t from, uint64_t to, int cpu_a,
	int cpu_b);
void gap_on_lost(struct core *c, const struct mg_lost *p);
void gap_on_chunk(struct core *c, const struct mg_chunk *p);
/* Reports that a side has no events between these times. */
void gap_not_covered(struct core *c, enum core_side which, uint64_t from_ns, uint64_t to_ns);
/* Reports missing parts of the application side between `from_ns` and the part that begins. */
void gap_app_parts(struct core *c, uint64_t from_ns, const struct mg_app_begin *p, uint32_t count);

#endif
