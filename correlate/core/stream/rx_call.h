/* SPDX-License-Identifier: MIT */
/* Calls that receive: which bytes each one has read, and which nobody will read any more. */
#ifndef MAGNET_CORRELATE_CORE_STREAM_RX_CALL_H
#define MAGNET_CORRELATE_CORE_STREAM_RX_CALL_H

#include "core.h"

/*
 * Counts a call's pieces as read, and settles their bytes, once the application event is joined, or
 * cannot come any more; `user` is U1, or 0 without an application event.
 */
void rx_settle(struct core *c, struct kernel_call *k, uint64_t user);
/* Ends a flow with its socket or the recording. */
void rx_finish(struct core *c, struct flow *f);

#endif
