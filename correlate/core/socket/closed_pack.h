/* SPDX-License-Identifier: MIT */
/* Packing and unpacking of a closed socket. */
#ifndef MAGNET_CORRELATE_CLOSED_PACK_H
#define MAGNET_CORRELATE_CLOSED_PACK_H

#include <stdbool.h>

#include "socket/closed.h"

/* Returns whether a socket is closed and holds only what can be packed. */
bool closed_fits(const struct core *c, const struct mg_sock *s);
/* Returns the packed form of a socket that fits and is not changed; NULL if memory is short. */
struct closed_sock *closed_packed(struct core *c, struct mg_sock *s);
/*
 * Unpacks into a zeroed socket, which is then in no table and has no peer. Returns false if memory
 * is short: the socket can only be emptied then.
 */
bool closed_unpack_to(struct core *c, const struct closed_sock *k, struct mg_sock *s);
/* Returns the bytes of the states of its flows, as their listener counts them. */
size_t closed_bounded(const struct core *c, const struct mg_sock *s);
/* Frees what a socket points to. */
void closed_empty(struct core *c, struct mg_sock *s);

#endif
