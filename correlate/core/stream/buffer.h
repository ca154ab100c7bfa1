/* SPDX-License-Identifier: MIT */
/* Emits how full a connection's buffers are, where an event says it (method, "Protocol state"). */
#ifndef MAGNET_CORRELATE_CORE_STREAM_BUFFER_H
#define MAGNET_CORRELATE_CORE_STREAM_BUFFER_H

#include "core.h"

/* Call after the event's acknowledgement is known. */
void buffer_on_write(struct core *c, struct mg_sock *s, const struct mg_event *e);
/* Call it for a segment that TCP processes, which may acknowledge bytes. */
void buffer_on_segment(struct core *c, struct mg_sock *s, uint64_t now);
/* `e` is tcp_more. */
void buffer_on_state(struct core *c, struct mg_sock *s, const struct mg_event *e);
void buffer_on_ready(struct core *c, struct mg_sock *s, const struct mg_event *e);
/* Call it for a copy that takes the bytes out of the queue. */
void buffer_on_copy(struct core *c, struct mg_sock *s, const struct mg_event *e);

#endif
