/* SPDX-License-Identifier: MIT */
/* Both ends of a connection in one trace. */
#ifndef MAGNET_CORRELATE_CORE_SOCKET_PEER_H
#define MAGNET_CORRELATE_CORE_SOCKET_PEER_H

#include "core.h"

void peer_link(struct core *c, struct mg_sock *s);
/* Finds the peer by addresses and ports, where sequence numbers do not identify it. */
void peer_link_by_place(struct core *c, struct mg_sock *s);
/* Call it when the socket is closed. */
void peer_forget(struct core *c, struct mg_sock *s);
void peer_sent(const struct core *c, struct flow *tx, uint64_t a, uint64_t b, uint64_t call,
	uint64_t xmit);
void peer_received(
	const struct core *c, struct flow *rx, uint64_t a, uint64_t b, uint64_t dev, uint64_t user);

#endif
