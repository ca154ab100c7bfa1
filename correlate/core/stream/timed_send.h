/* SPDX-License-Identifier: MIT */
/*
 * Sends by the kernel's transmit timestamps (--layers timestamps): how long the last byte of each
 * was in the send buffer, in the device's queue, and on its way until it was acknowledged.
 */
#ifndef MAGNET_CORRELATE_TIMED_SEND_H
#define MAGNET_CORRELATE_TIMED_SEND_H

#include "core.h"

void timed_send_on_send(
	struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
void timed_send_on_stamp(struct core *c, const struct mg_event *e, struct annotation *a);
/* Settles what is on its way of all connections. Call it when the layer is switched off. */
void timed_send_off(struct core *c);
/* Settles what is on its way. Call it when no event of the connection will come any more. */
void timed_send_end(struct core *c, struct mg_sock *s);

#endif
