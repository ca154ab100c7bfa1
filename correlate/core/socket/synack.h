/* SPDX-License-Identifier: MIT */
/* Retransmitted SYN-ACKs. */
#ifndef MAGNET_CORRELATE_CORE_SOCKET_SYNACK_H
#define MAGNET_CORRELATE_CORE_SOCKET_SYNACK_H

#include "core.h"

void synack_on_retransmit(struct core *c, const struct mg_tcp_retransmit *p);
/* Call it when a socket is established that its peer opened: it takes over the counts. */
void synack_on_established(struct core *c, struct mg_sock *s, uint32_t write_seq);
void synacks_free(struct core *c);

#endif
