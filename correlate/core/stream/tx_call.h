/* SPDX-License-Identifier: MIT */
/*
 * Calls that send: which bytes each one wrote. TCP reports each copy (tcp_send) with the bytes of
 * the call that are still to be copied; a call's pieces follow from that and from its return value.
 */
#ifndef MAGNET_CORRELATE_CORE_STREAM_TX_CALL_H
#define MAGNET_CORRELATE_CORE_STREAM_TX_CALL_H

#include "core.h"

/* Adds a piece to the thread's present call: TCP is about to copy bytes. */
void tx_on_send(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
/*
 * Ends the last piece of a call as it leaves the kernel. Returns the number of pieces that remain;
 * those behind them turned out to be empty.
 */
uint32_t tx_end_call(struct kernel_call *k, uint32_t exit_seq);
/*
 * Adds a call's pieces to the stream once the application event is joined, or cannot come any more;
 * `user` and `leave` are U0 and U1, or 0 without an application event.
 */
void tx_settle(struct core *c, struct kernel_call *k, uint64_t user, uint64_t leave);

#endif
