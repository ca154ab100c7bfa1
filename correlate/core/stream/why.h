/* SPDX-License-Identifier: MIT */
/*
 * Causes of waits in the send buffer, and what released the bytes (method, "Residence"): two labels
 * per byte, found when it is first handed to IP, and its wait divided by what held the queue.
 */
#ifndef MAGNET_CORRELATE_WHY_H
#define MAGNET_CORRELATE_WHY_H

#include <stdbool.h>
#include <stdint.h>

#include "bytes/why_state.h"
#include "facts/why_reasons.h"

struct core;
struct flow;
struct mg_packet;
struct mg_sock;
struct mg_tcp_recv;
struct mg_tcp_room;
struct mg_tcp_send;
struct mg_tcp_state;
struct thread;

/*
 * Call them when a call is about to copy bytes, and when TCP is about to process the peer's
 * segment; with TCP's state then.
 */
void why_on_write(struct flow *tx, struct thread *t, const struct mg_tcp_send *p, uint64_t now);
void why_on_segment(struct mg_sock *s, struct thread *t, const struct mg_tcp_recv *p, uint64_t now);
/* Call it when the writing call has returned; TCP gives the next byte this number. */
void why_on_written(struct flow *tx, uint32_t seq);
/*
 * Handles state events, which belong to the event before them, except changes of the congestion
 * state.
 */
void why_on_state(struct flow *tx, const struct mg_tcp_state *p);
/* The same after one end has closed: a segment is sent, or one of the peer's arrives. */
void why_on_room(struct core *c, const struct mg_tcp_room *p);
void why_on_arrival(struct mg_sock *s, struct thread *t, uint64_t now);
/*
 * Call it when TCP hands a segment to IP, with its first byte at `off`; `t` is the thread in whose
 * context it happens.
 */
void why_on_out(struct core *c, const struct thread *t, struct mg_sock *s,
	const struct mg_packet *p, uint64_t off, uint64_t now);
/*
 * Divides the time between the two, in which bytes waited, by cause. Call it in order of `from`:
 * earlier times are forgotten.
 */
void why_times(struct flow *tx, uint64_t from, uint64_t to, uint64_t by[WHYS]);

#endif
