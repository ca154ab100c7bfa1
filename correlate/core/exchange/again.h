/* SPDX-License-Identifier: MIT */
/* Requests that a client sends again, as no reply came in time (method, "Exchanges"). */
#ifndef MAGNET_CORRELATE_CORE_EXCHANGE_AGAIN_H
#define MAGNET_CORRELATE_CORE_EXCHANGE_AGAIN_H

#include "exchange/exchange.h"

/*
 * Takes the present exchange of a client that writes a datagram: notes the wait if the request is
 * sent again after one that ended without a reply, and tells the server that had read it. Call it
 * before the call is added to the exchange.
 */
void again_on_request(struct core *c, struct mg_sock *s, const struct exchange_call *k);

#endif
