/* SPDX-License-Identifier: MIT */
/*
 * Packets with sent bytes, from TCP's hand-over to IP to the driver, and their acknowledgements
 * (method, "Byte lineage"). Calls that send are in tx_call.h; tx_range.h settles what all layers
 * have seen.
 */
#ifndef MAGNET_CORRELATE_CORE_STREAM_TX_H
#define MAGNET_CORRELATE_CORE_STREAM_TX_H

#include "core.h"

/*
 * Returns whether an event's packet passes a layer of its own socket, and not one of another
 * namespace, a tunnel or a bridge. Call it before tx_on_packet() and tx_on_done().
 */
bool tx_is_own(struct core *c, const struct mg_event *e);
/*
 * Records that a packet has passed the layer of its event: ip_out, ip_post, dev_queue or dev_xmit.
 * `t` is the thread in whose context it happened, NULL if none.
 */
void tx_on_packet(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
/* Records that the driver has taken a packet, or refused it, and settles what is complete then. */
void tx_on_done(struct core *c, struct mg_sock *s, const struct mg_event *e, struct annotation *a);
/* Counts what TCP sends again. The event follows that of IP about the same bytes. */
void tx_on_retransmit(struct core *c, const struct mg_event *e, struct annotation *a);
/* Takes note that all bytes before the sequence number `ack` have arrived, as TCP says. */
void tx_acked(struct core *c, struct flow *f, uint32_t ack, uint64_t now);
/* Does the same for a frame that arrived, whose header may have been damaged. */
void tx_acked_by_frame(struct core *c, struct flow *f, uint32_t ack, uint64_t now);
/* Returns whether the peer can acknowledge that much: more comes of a damaged header. */
bool tx_may_be_acked(const struct core *c, const struct flow *f, uint32_t ack);

#endif
