/* SPDX-License-Identifier: MIT */
/* The kernel's drops: whose packet it was, and in which layer. */
#ifndef MAGNET_CORRELATE_CORE_SOCKET_DROPS_H
#define MAGNET_CORRELATE_CORE_SOCKET_DROPS_H

#include "core.h"

/* Counts a drop, and emits it; `s` is NULL where the socket is not known. */
void drop_tell(struct core *c, struct mg_sock *s, const struct mg_event *e);
/* Returns the layer from the kernel's reason and function; NULL if these do not tell. */
const char *drop_layer(const char *reason, const char *location);

#endif
