/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_CORE_MESSAGE_DATAGRAM_TX_H
#define MAGNET_CORRELATE_CORE_MESSAGE_DATAGRAM_TX_H

#include "core.h"

void datagram_out(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_event *e,
	enum tx_layer layer, struct annotation *a);
void datagram_done(
	struct core *c, struct mg_sock *s, const struct mg_event *e, struct annotation *a);
void datagram_sent(struct thread *t, struct mg_sock *s, int64_t ret);
void datagram_settle_tx(struct core *c, const struct kernel_call *k, uint64_t call);
void datagram_drop_out(
	struct core *c, struct thread *t, struct mg_sock *s, const struct mg_drop *p);

#endif
