/* SPDX-License-Identifier: MIT */
#ifndef MAGNET_CORRELATE_CORE_MESSAGE_DATAGRAM_READ_H
#define MAGNET_CORRELATE_CORE_MESSAGE_DATAGRAM_READ_H

#include "core.h"

/* Call it when the call has received bytes of a message. */
void datagram_take(struct thread *t, struct mg_sock *s, struct arrival *x, uint32_t len,
	uint64_t now, struct annotation *a);
void datagram_received(struct core *c, struct thread *t, struct mg_sock *s,
	const struct mg_event *e, const struct mg_sock_moved *p, struct annotation *a);
void datagram_settle_rx(struct core *c, const struct kernel_call *k, uint64_t user);

#endif
