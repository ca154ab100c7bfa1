/* SPDX-License-Identifier: MIT */
/* Answers to requests to connect that were sent again. */
#ifndef MAGNET_CORRELATE_CORE_SOCKET_SYNACK_H
#define MAGNET_CORRELATE_CORE_SOCKET_SYNACK_H

#include "core.h"

void synack_on_retransmit(struct core *c, const struct mg_tcp_retransmit *p);
/* Call when a socket is established that its peer opened: they are its own from now on. */
void synack_on_established(struct core *c, struct mg_sock *s, uint32_t write_seq);
void synacks_free(struct core *c);

#endif
