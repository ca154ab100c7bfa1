/* SPDX-License-Identifier: MIT */
/* Received bytes, from the device to the copy into the program's buffer (method, "Byte lineage").
 */
#ifndef MAGNET_CORRELATE_CORE_STREAM_RX_H
#define MAGNET_CORRELATE_CORE_STREAM_RX_H

#include "core.h"

void rx_on_packet(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
void rx_on_tcp(struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
void rx_on_ready(struct core *c, const struct mg_event *e, struct annotation *a);
void rx_on_copy(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_event *e,
	struct annotation *a);

#endif
