/* SPDX-License-Identifier: MIT */
/* Received datagrams, from a device, through reassembly, into the queue of their socket. */
#ifndef MAGNET_CORRELATE_CORE_MESSAGE_DATAGRAM_RX_H
#define MAGNET_CORRELATE_CORE_MESSAGE_DATAGRAM_RX_H

#include "core.h"

void datagram_in(struct core *c, struct mg_sock *s, const struct mg_event *e, enum rx_layer layer,
	struct annotation *a);
void datagram_ready(
	struct core *c, struct mg_sock *s, const struct mg_event *e, struct annotation *a);
/* Call it for a datagram that several sockets may get. */
void datagram_unclaimed(struct core *c, const struct mg_event *e);
struct arrival;
void datagram_drop_in(struct mg_sock *s, const struct mg_event *e);

#endif
