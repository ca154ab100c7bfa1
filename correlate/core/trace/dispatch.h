/* SPDX-License-Identifier: MIT */
/* An event whose times are those of one counter, to the part it concerns. */
#ifndef MAGNET_CORRELATE_CORE_TRACE_DISPATCH_H
#define MAGNET_CORRELATE_CORE_TRACE_DISPATCH_H

#include "core.h"

/* Returns whether a hook's event has a socket's cookie, which is its payload's first field then. */
bool event_has_sock(unsigned int id);
void core_dispatch(struct core *c, const struct mg_event *e, struct annotation *a);

#endif
