/* SPDX-License-Identifier: MIT */
/* Flows as facts. */
#ifndef MAGNET_CORRELATE_CORE_SOCKET_FLOW_FACT_H
#define MAGNET_CORRELATE_CORE_SOCKET_FLOW_FACT_H

#include "core.h"

/* Emits both directions of each socket, once all is settled; of those in which anything was seen.
 */
void flows_tell(struct core *c);

#endif
