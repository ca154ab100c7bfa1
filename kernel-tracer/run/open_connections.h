/* SPDX-License-Identifier: MIT */
/* Connections that are open when the kernel's timestamps are asked for (--layers timestamps). */
#ifndef MAGNET_KERNEL_TRACER_RUN_OPEN_CONNECTIONS_H
#define MAGNET_KERNEL_TRACER_RUN_OPEN_CONNECTIONS_H

#include "run/run.h"

/*
 * Has the kernel timestamp the sends of the connections that are open and chosen, in every network
 * namespace; warns if it cannot. Does nothing while the layer is not recorded. It may be called
 * again, as when more connections are chosen.
 */
void run_time_connections(struct run *r);

#endif
