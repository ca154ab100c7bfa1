/* SPDX-License-Identifier: MIT */
/* The kernel's drops: whose packet it was, and in which layer. */
#ifndef MAGNET_CORRELATE_CORE_SOCKET_DROPS_H
#define MAGNET_CORRELATE_CORE_SOCKET_DROPS_H

#include "core.h"

void drop_on_event(
	struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
/* Returns the layer from the kernel's reason and function; NULL if these do not tell. */
const char *drop_layer(const char *reason, const char *location);

#endif
