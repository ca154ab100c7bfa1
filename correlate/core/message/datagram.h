/* SPDX-License-Identifier: MIT */
/* Sockets whose bytes have no numbers. */
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
/* The system call that is over, where its messages did not tell. */
void datagram_end_call(struct core *c, struct thread *t, const struct mg_event *e);
/* A call that moved `bytes`; `enter` and `leave` are U0 and U1, or 0. */
void datagram_settle(struct core *c, struct mg_sock *s, const struct kernel_call *k, uint64_t enter,
	uint64_t leave, uint64_t bytes);
void datagram_finish(const struct core *c, struct mg_sock *s);
/* The layers this recording can have seen what it sent in, as bits. */
uint32_t datagram_required(struct core *c, const struct flow *f);
/* The program's thread is in a system call on this socket. */
bool datagram_in_call(const struct thread *t, const struct mg_sock *s);
/* Bytes the program gave or gets: ICMP's header is its own. */
uint32_t datagram_length(const struct mg_packet *p);

#endif
