/* SPDX-License-Identifier: MIT */
/* Sockets: their states, their ends, and the data they hold. */
#ifndef MAGNET_CORRELATE_CORE_SOCKET_SOCKET_H
#define MAGNET_CORRELATE_CORE_SOCKET_SOCKET_H

#include "core.h"

/* Returns the next socket, starting with NULL; sockets closed long ago are left out. */
struct mg_sock *sock_next_live(struct core *c, struct mg_sock *s);
void sock_lives(struct core *c, struct mg_sock *s);
void sock_no_longer_live(struct mg_sock *s);
struct mg_sock *sock_look_up(struct core *c, uint64_t cookie);
struct mg_sock *sock_make(struct core *c, uint64_t cookie);
void socks_claim(struct core *c);
/* Both check the cache of the last look-ups first; they return NULL if the socket is not known. */
static inline struct mg_sock *sock_find(struct core *c, uint64_t cookie)
{
	struct mg_sock *s = recent_sock(&c->recent, cookie);

	return s ? s : sock_look_up(c, cookie);
}
/* The same, but makes a missing socket; returns NULL without a cookie, or if memory is short. */
static inline struct mg_sock *sock_get(struct core *c, uint64_t cookie)
{
	struct mg_sock *s = recent_sock(&c->recent, cookie);

	return s ? s : sock_make(c, cookie);
}
/* Notes the port of a refused connection, which has none yet as it begins to connect, nor when it
 * is closed. */
void sock_on_reset(struct core *c, const struct mg_tcp_reset *p);
/* Returns the socket. */
struct mg_sock *sock_on_state(struct core *c, const struct mg_event *e);
void sock_on_addr(struct core *c, const struct mg_event *e);
/*
 * Call it when the thread has made a call on the socket, or an event shows that it moves its bytes.
 */
void sock_used_by(struct core *c, struct mg_sock *s, struct thread *t);
/* Call it when a program has put a kernel protocol on top of its connection. */
void sock_on_ulp(struct core *c, uint64_t cookie);
void flow_touch(struct flow *f, uint64_t t);
/* Notes an event that tells of the flow and not of where its bytes are, such as its opening. */
void flow_lives(struct flow *f, uint64_t t);
/* Notes that bytes up to `end` passed a layer of a socket whose calls are not known. */
void flow_pass(struct flow *f, struct ranges *layer, uint64_t end);
/* Call it when no byte will be sent again: forgets when they were sent. */
void flow_closed(const struct core *c, struct flow *f);
/* Call it when the socket closes, or the recording ends. */
void sock_ends(const struct core *c, struct mg_sock *s, uint64_t now);
/* Frees what a flow points to. */
void flow_free(const struct core *c, struct flow *f);

#endif
