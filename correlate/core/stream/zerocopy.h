/* SPDX-License-Identifier: MIT */
/*
 * Sends with MSG_ZEROCOPY: how long the kernel held the program's pages after the call. The kernel
 * numbers the sends of a socket, and reports the numbers it has finished with.
 */
#ifndef MAGNET_CORRELATE_ZEROCOPY_H
#define MAGNET_CORRELATE_ZEROCOPY_H

#include "core.h"

void zerocopy_on_sent(struct core *c, const struct mg_event *e);
void zerocopy_on_done(struct core *c, const struct mg_event *e);

#endif
