/* SPDX-License-Identifier: MIT */
/* Facts of a connection's protocol state, one for each event that carries some. */
#ifndef MAGNET_CORRELATE_CORE_STREAM_STATE_H
#define MAGNET_CORRELATE_CORE_STREAM_STATE_H

#include "core.h"

/* Emits the state that an event carries, as facts/table.h says. */
void state_on_event(struct core *c, const struct mg_event *e, struct annotation *a);
/*
 * Emits that the window which an arriving segment offers has closed or opened. Call it once an end
 * has closed and TCP has no event for its segments any more.
 */
void state_on_arrival(struct core *c, struct mg_sock *s, const struct mg_packet *p, uint64_t now);

#endif
