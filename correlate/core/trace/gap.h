/* SPDX-License-Identifier: MIT */
/* Intervals in which events are missing, and which figures miss them. */
#ifndef MAGNET_CORRELATE_CORE_TRACE_GAP_H
#define MAGNET_CORRELATE_CORE_TRACE_GAP_H

#include "core.h"
#include "event_table.h"

/* As soon as it is read, before what came before it is processed. */
void gap_foresee(struct core *c, const struct mg_lost *p);
/* Spacings of the socket's units do not reach across these missing events. */
void gap_touch(struct mg_sock *s, const struct hole *h);
/* It may be met within a gap that was told where it begins. */
void gap_on_new_socket(struct core *c, struct mg_sock *s);
/* A loss that a reader tells, by no event of a trace. */
bool gap_is_of_reader(const struct mg_event *e);
/* Whether a layer's events of [from, to) may be missing on one of these CPUs; -1 = any. */
bool gap_within(const struct core *c, enum mg_layer layer, uint64_t from, uint64_t to, int cpu_a,
	int cpu_b);
void gap_on_lost(struct core *c, const struct mg_lost *p);
void gap_on_chunk(struct core *c, const struct mg_chunk *p);
/* Nothing of a side is in the trace between these times. */
void gap_not_covered(struct core *c, enum core_side which, uint64_t from_ns, uint64_t to_ns);
/* So many parts of the application side are not here, between `from_ns` and the part that begins.
 */
void gap_app_parts(struct core *c, uint64_t from_ns, const struct mg_app_begin *p, uint32_t count);

#endif
