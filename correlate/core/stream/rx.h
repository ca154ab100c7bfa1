/* SPDX-License-Identifier: MIT */
/* Received bytes, from the device to the program (method, "Byte lineage", "Residence"). */
#ifndef MAGNET_CORRELATE_CORE_STREAM_RX_H
#define MAGNET_CORRELATE_CORE_STREAM_RX_H

#include "core.h"

void rx_on_packet(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
void rx_on_tcp(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
void rx_on_ready(struct core *c, const struct mg_event *e, struct annotation *a);
void rx_on_copy(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_event *e,
	struct annotation *a);
/* `user` is U1, or 0. */
void rx_settle(struct core *c, struct kernel_call *k, uint64_t user);
/* Emits these bytes as a range without times: nothing tells how they were read. */
void rx_tell_unseen(struct core *c, struct flow *f, uint64_t off, uint64_t len);
void rx_finish(struct core *c, struct flow *f);
/*
 * Settles a byte range with known times, read by a call's piece. Returns whether it was complete.
 */
bool rx_atom(struct core *c, const struct piece *p, const struct kernel_call *k, uint64_t user,
	uint32_t layers, uint64_t a, uint64_t b, const uint64_t t[], uint32_t present);
/* Settles one range of a call, without counting it as read. */
void rx_settle_piece(
	struct core *c, const struct kernel_call *k, const struct piece *p, uint64_t user);

#endif
