/* SPDX-License-Identifier: MIT */
/*
 * Ranges of received bytes that a call has read: each is emitted as a fact, with its time in each
 * stage where all times are known (method, "Residence").
 */
#ifndef MAGNET_CORRELATE_CORE_STREAM_RX_RANGE_H
#define MAGNET_CORRELATE_CORE_STREAM_RX_RANGE_H

#include "core.h"

/*
 * Settles the bytes of a call's piece, without counting them as read; `user` is U1, or the time at
 * which the system call returned.
 */
void rx_settle_piece(
	struct core *c, const struct kernel_call *k, const struct piece *p, uint64_t user);
/*
 * Settles one range whose times the caller has, as of a message, read by a call's piece; `layers`
 * are those it must have to be complete, as bits. Returns whether it was complete.
 */
bool rx_settle_range(struct core *c, const struct piece *p, const struct kernel_call *k,
	uint64_t user, uint32_t layers, uint64_t a, uint64_t b, const uint64_t t[],
	uint32_t present);
/* Emits these bytes as a range without times: no event shows how they were read. */
void rx_emit_unseen(struct core *c, struct flow *f, uint64_t off, uint64_t len);

#endif
