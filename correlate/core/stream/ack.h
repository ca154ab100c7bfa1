/* SPDX-License-Identifier: MIT */
/*
 * Acknowledgements that advance: when they passed device, IP and TCP at the sender of the bytes,
 * and when they left their receiver (method, "Acknowledgements"). Nothing is kept unless somebody
 * listens to the fact `ack`.
 */
#ifndef MAGNET_CORRELATE_CORE_STREAM_ACK_H
#define MAGNET_CORRELATE_CORE_STREAM_ACK_H

#include "core.h"

static inline bool acks_wanted(const struct core *c)
{
	return facts_wanted(&c->facts, FACT_ack);
}

/*
 * Notes a segment that arrives: its event is dev_recv or ip_in. Call it before tx_acked_by_frame(),
 * if acks_wanted().
 */
void ack_on_arrival(struct core *c, struct mg_sock *s, const struct mg_event *e);
/* Notes that TCP processes a segment, of which tcp_recv tells in established connections only. */
void ack_on_processed(struct core *c, struct mg_sock *s, const struct mg_event *e);
/* Notes a segment that leaves: its event is ip_out or dev_xmit. */
void ack_on_departure(struct core *c, struct mg_sock *s, const struct mg_event *e);
/* Settles what TCP's events will not tell any more, after sock_on_state(). */
void ack_on_state(struct core *c, struct mg_sock *s, const struct mg_event *e);
/* Settles what is left at the end of the recording. */
void acks_finish(struct core *c, struct mg_sock *s);

#endif
