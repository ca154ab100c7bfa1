/* SPDX-License-Identifier: MIT */
/* How a closed socket is packed, and unpacked. */
#ifndef MAGNET_CORRELATE_CLOSED_PACK_H
#define MAGNET_CORRELATE_CLOSED_PACK_H

#include <stdbool.h>

#include "socket/closed.h"

/* Whether a socket is closed, and has nothing that is not packed. */
bool closed_fits(struct mg_sock *s);
/* Returns the packed form of a socket that fits, which stays as it is; NULL without memory. */
struct closed_sock *closed_packed(struct core *c, struct mg_sock *s);
/*
 * Unpacks to a socket that is zero; it is in no table, and has no peer. Returns false without
 * memory: then it can only be emptied.
 */
bool closed_unpack_to(struct core *c, const struct closed_sock *k, struct mg_sock *s);
/* Returns what a socket takes of the memory that is bounded, but for hash tables; bytes. */
size_t closed_bounded(struct mg_sock *s);
/* Frees what a socket points to. */
void closed_empty(struct mg_sock *s);

#endif
