/* SPDX-License-Identifier: MIT */
/* The kernel's drops by socket, direction, reason and place. */
#ifndef MAGNET_CORRELATE_CORE_SOCKET_DROPS_H
#define MAGNET_CORRELATE_CORE_SOCKET_DROPS_H

#include "core.h"

void drop_on_event(
	struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
void drops_free(struct core *c);

#endif
