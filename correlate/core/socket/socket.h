/* SPDX-License-Identifier: MIT */
/* Sockets: their states, ends and what they hold. */
#ifndef MAGNET_CORRELATE_CORE_SOCKET_SOCKET_H
#define MAGNET_CORRELATE_CORE_SOCKET_SOCKET_H

#include "core.h"

/* All but those closed long ago, one after the other from NULL on. */
struct mg_sock *sock_next_live(struct core *c, struct mg_sock *s);
void sock_lives(struct core *c, struct mg_sock *s);
void sock_no_longer_live(struct mg_sock *s);
struct mg_sock *sock_look_up(struct core *c, uint64_t cookie);
struct mg_sock *sock_make(struct core *c, uint64_t cookie);
void socks_claim(struct core *c);
/* Both look at what was asked for last before they look it up; NULL if it is not known. */
static inline struct mg_sock *sock_find(struct core *c, uint64_t cookie)
{
	struct mg_sock *s = c->recent.sock[cookie % RECENT_SOCKS];

	return s && s->cookie == cookie ? s : sock_look_up(c, cookie);
}
/* One that is not known is made; NULL without a number, or without memory. */
static inline struct mg_sock *sock_get(struct core *c, uint64_t cookie)
{
	struct mg_sock *s = c->recent.sock[cookie % RECENT_SOCKS];

	return s && s->cookie == cookie ? s : sock_make(c, cookie);
}
void sock_on_state(struct core *c, const struct mg_event *e);
void sock_on_addr(struct core *c, const struct mg_event *e);
/* The thread has made a call on it, or an event shows that it moves its bytes. */
void sock_used_by(struct core *c, struct mg_sock *s, struct thread *t);
/* A program has put a protocol of the kernel on top of its connection. */
void sock_on_ulp(struct core *c, uint64_t cookie);
void flow_touch(struct flow *f, uint64_t t);
/* Bytes up to `end` passed a layer of a socket whose calls are not known: enough is kept. */
void flow_pass(struct flow *f, struct ranges *layer, uint64_t end);
void flow_free(struct flow *f);

#endif
