/* SPDX-License-Identifier: MIT */
/* Sockets whose bytes have no sequence numbers. */
#ifndef MAGNET_CORRELATE_CORE_MESSAGE_DATAGRAM_H
#define MAGNET_CORRELATE_CORE_MESSAGE_DATAGRAM_H

#include "core.h"

bool is_datagram(const struct mg_packet *p);
void sock_on_new(struct core *c, const struct mg_event *e);
void sock_on_peer(struct core *c, const struct mg_event *e, struct annotation *a);
void sock_on_moved(
	struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
void datagram_on_packet(
	struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
void datagram_on_done(
	struct core *c, struct mg_sock *s, const struct mg_event *e, struct annotation *a);
void datagram_on_ready(
	struct core *c, struct thread *t, const struct mg_event *e, struct annotation *a);
void datagram_on_copy(struct core *c, struct thread *t, struct mg_sock *s, const struct mg_event *e,
	struct annotation *a);
/* Ends a system call whose messages had no events. */
void datagram_end_call(struct core *c, struct thread *t, const struct mg_event *e);
/* Settles a call that moved `bytes`; `enter` and `leave` are U0 and U1, or 0. */
void datagram_settle(struct core *c, struct mg_sock *s, const struct kernel_call *k, uint64_t enter,
	uint64_t leave, uint64_t bytes);
void datagram_finish(const struct core *c, struct mg_sock *s);
/* Returns the layers in which this recording can have seen sent data, as bits. */
uint32_t datagram_required(struct core *c, const struct flow *f);
/* Returns whether the program's thread is in a system call on this socket. */
bool datagram_in_call(const struct thread *t, const struct mg_sock *s);
/* Returns the bytes that the program gave or gets: ICMP's header is included. */
uint32_t datagram_length(const struct mg_packet *p);

#endif
