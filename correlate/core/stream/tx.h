/* SPDX-License-Identifier: MIT */
/* Sent bytes, from the program's call to the driver (method, "Byte lineage"). */
#ifndef MAGNET_CORRELATE_CORE_STREAM_TX_H
#define MAGNET_CORRELATE_CORE_STREAM_TX_H

#include "core.h"

void tx_on_send(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
/* `t` is the thread in whose context it happened, NULL if none. */
void tx_on_packet(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
/* Returns whether a sent packet passes a layer of its own socket, and not another's. */
bool tx_is_own(struct core *c, const struct mg_event *e);
void tx_on_done(struct core *c, const struct mg_event *e, struct annotation *a);
void tx_on_retransmit(struct core *c, const struct mg_event *e, struct annotation *a);
void tx_acked(const struct core *c, struct flow *f, uint32_t ack, uint64_t now);
/* The same for a frame that arrived, whose header may have been damaged. */
void tx_acked_by_frame(const struct core *c, struct flow *f, uint32_t ack, uint64_t now);
/* Forgets when bytes were sent: they will not be sent again. */
void tx_closed(const struct core *c, struct flow *f);
/* Ends the piece of the last tcp_send, with the call. */
void tx_end_call(struct kernel_call *k, uint32_t exit_seq);
/*
 * Adds a call's pieces to the stream; `user` and `leave` are U0 and U1, or 0 without an application
 * event.
 */
void tx_settle(struct core *c, struct kernel_call *k, uint64_t user, uint64_t leave);
void tx_make_atoms(struct core *c, struct flow *f, bool at_end);

#endif
