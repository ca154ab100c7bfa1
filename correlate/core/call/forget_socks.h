/* SPDX-License-Identifier: MIT */
/* Sockets of which no event tells the end: UDP, raw, ICMP and UNIX. */
#ifndef MAGNET_CORRELATE_CORE_CALL_FORGET_SOCKS_H
#define MAGNET_CORRELATE_CORE_CALL_FORGET_SOCKS_H

#include "core.h"

/* Sockets that nothing has used for this long may be forgotten ... */
#define IDLE_NS 10000000000ull
/* ... while more than this many are known: as many as magnet top has rows. */
#define IDLE_KEPT 5000

/* Frees what a socket holds, and the socket, which is in no table any more. */
void sock_free(struct core *c, struct mg_sock *s);
/*
 * Forgets those that were idle the longest, if core_forget_closed() asked for it. Call it between
 * events, once a second.
 */
void socks_forget(struct core *c, uint64_t now_ns);

#endif
