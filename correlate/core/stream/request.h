/* SPDX-License-Identifier: MIT */
/* Data for a request to connect, before it has a socket. */
#ifndef MAGNET_CORRELATE_CORE_STREAM_REQUEST_H
#define MAGNET_CORRELATE_CORE_STREAM_REQUEST_H

#include "core.h"

/*
 * Call it with a packet for a request. Returns its socket; if that is not known yet, keeps the
 * event until it is, and returns NULL.
 */
struct mg_sock *request_on_packet(struct core *c, const struct mg_event *e);
/* The same for a drop; returns whether it is kept until the socket is known, or will not be. */
bool request_on_drop(struct core *c, const struct mg_event *e);
/* Call it when a socket is established: processes what is kept for it. */
void requests_on_state(struct core *c, struct mg_sock *s, const struct mg_event *e);
/* Call it at the end: emits drops of requests that have become no socket. */
void requests_finish(struct core *c);
void requests_free(struct core *c);

#endif
