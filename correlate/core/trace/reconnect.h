/* SPDX-License-Identifier: MIT */
/*
 * Sockets that a program connects again, after it has disconnected them by connect() to AF_UNSPEC.
 * The kernel's cookie stays the same, but sequence numbers begin anew: each further connection is a
 * socket of its own here, whose number is the cookie and the connection's number
 * (FLOW_CONNECTION).
 */
#ifndef MAGNET_CORRELATE_CORE_TRACE_RECONNECT_H
#define MAGNET_CORRELATE_CORE_TRACE_RECONNECT_H

#include "core.h"

/* Returns whether reconnect_on_event() has something to do. */
static inline bool reconnect_concerns(const struct core *c, const struct mg_event *e)
{
	return c->sockets.again || e->id == MG_EVENT_sock_state || e->id == MG_EVENT_sock_open;
}
/* Gives a hook's event of a further connection the number of that. Call it in order of time. */
void reconnect_on_event(struct core *c, struct mg_event *e);
void reconnect_free(struct core *c);

#endif
