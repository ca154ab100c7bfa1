/* SPDX-License-Identifier: MIT */
/* Attempts to open TCP connections, by the states of their sockets (method, "Attempts to connect").
 */
#ifndef MAGNET_CORRELATE_CORE_SOCKET_CONNECT_H
#define MAGNET_CORRELATE_CORE_SOCKET_CONNECT_H

#include "core.h"

/* Takes a change of a socket's state; emits the attempt that ends by it. */
void connect_on_state(struct core *c, struct mg_sock *s, const struct mg_event *e);
/* Emits the attempt that has not ended when the recording does. */
void connect_finish(struct core *c, struct mg_sock *s, uint64_t now);

#endif
