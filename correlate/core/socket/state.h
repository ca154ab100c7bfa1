/* SPDX-License-Identifier: MIT */
/* Protocol state of a connection, summed up for each socket. */
#ifndef MAGNET_CORRELATE_CORE_SOCKET_STATE_H
#define MAGNET_CORRELATE_CORE_SOCKET_STATE_H

#include "core.h"

void state_on_event(struct core *c, const struct mg_event *e, struct annotation *a);
/* Call state_end() when the socket closes, or the recording ends. */
void state_on_arrival(struct core *c, struct mg_sock *s, const struct mg_packet *p, uint64_t now);
void state_end(const struct core *c, struct mg_sock *s, uint64_t now);

#endif
