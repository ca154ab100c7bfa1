/* SPDX-License-Identifier: MIT */
#include "call/forget_socks.h"

#include <stdlib.h>

#include "alloc.h"
#include "core.h"
#include "exchange/exchange.h"
#include "message/arrival.h"
#include "message/frames.h"
#include "message/parcel.h"
#include "socket/closed_pack.h"
#include "socket/socket.h"

void sock_free(struct core *c, struct mg_sock *s)
{
	queues_free(s->queues);
	free(s->far);
	closed_empty(c, s);
	free(s);
}

/* Returns whether no event will tell the socket's end. TCP tells it, once there is a connection. */
static bool is_without_end(const struct mg_sock *s)
{
	return s->kind != MG_KIND_tcp || (!s->state && !s->tx.anchor.set && !s->rx.anchor.set);
}

static bool is_in_call(const struct mg_sock *s)
{
	return s->tx.use.open || s->rx.use.open;
}

/* Returns whether the socket has been idle for long. */
static bool is_idle(struct mg_sock *s, uint64_t now_ns)
{
	uint64_t sent = s->tx.active.last, received = s->rx.active.last;
	uint64_t last = sent > received ? sent : received;

	if (is_in_call(s) || last != s->kept.last || !s->kept.since_ns) {
		s->kept.last = last;
		s->kept.since_ns = now_ns;
	}
	return now_ns - s->kept.since_ns >= IDLE_NS;
}

/* Sockets without an end: all of them, and the idle ones. */
struct without_end {
	size_t n, idle;
	struct mg_sock **sock; /* the idle ones */
};

static struct without_end look(struct core *c, uint64_t now_ns)
{
	struct without_end w = {0};
	struct mg_sock *s;

	w.sock = mg_malloc((HASH_COUNT(c->sockets.socks) + 1) * sizeof(struct mg_sock *));
	for (s = c->sockets.socks; s && w.sock; s = s->hh.next) {
		if (!is_without_end(s))
			continue;
		w.n++;
		if (is_idle(s, now_ns))
			w.sock[w.idle++] = s;
	}
	return w;
}

static int by_idle_since(const void *a, const void *b)
{
	const struct mg_sock *s = *(struct mg_sock *const *)a, *t = *(struct mg_sock *const *)b;

	if (s->kept.since_ns != t->kept.since_ns)
		return s->kept.since_ns < t->kept.since_ns ? -1 : 1;
	return (s->cookie > t->cookie) - (s->cookie < t->cookie);
}

/* ---- what still points to them ---- */

static void drop_frames(struct core *c)
{
	struct frame *f, *newer;

	for (f = c->frames ? c->frames->oldest : NULL; f; f = newer) {
		newer = f->newer;
		if (f->parcel->flow->sock->kept.is_leaving)
			frame_forget(c, f);
	}
}

static void leave_partner(struct flow *f)
{
	if (!f->paired.partner || !f->paired.partner->sock->kept.is_leaving)
		return;
	f->paired.partner = NULL;
	f->paired.several = true; /* others that come are not the only one */
}

static void leave_others(struct core *c)
{
	for (struct mg_sock *s = c->sockets.socks; s; s = s->hh.next) {
		leave_partner(&s->tx);
		leave_partner(&s->rx);
		if (s->peer && s->peer->kept.is_leaving)
			s->peer = NULL;
	}
}

/* Returns whether a message elsewhere, or a call that has not been settled, needs the socket. */
static bool is_needed(const struct mg_sock *s)
{
	return s->kept.by || (s->queues && s->queues->arrivals) || s->in.alone || s->in.placed;
}

static void forget(struct core *c, struct mg_sock *s)
{
	struct mg_sock **recent = &c->recent.sock[s->cookie % RECENT_SOCKS];

	HASH_DEL(c->sockets.socks, s);
	sock_no_longer_live(s);
	if (*recent == s)
		*recent = NULL;
	sock_free(c, s);
}

static void forget_all(struct core *c, struct mg_sock *sock[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sock[i]->kept.is_leaving = true;
		exchange_end(c, sock[i], 0);
		queues_empty(sock[i]->queues);
	}
	drop_frames(c);
	for (size_t i = 0; i < n; i++)
		sock[i]->kept.is_leaving = !is_needed(sock[i]);
	leave_others(c);
	for (size_t i = 0; i < n; i++)
		if (sock[i]->kept.is_leaving)
			forget(c, sock[i]);
}

void socks_forget(struct core *c, uint64_t now_ns)
{
	struct without_end w;
	size_t too_many;

	if (HASH_COUNT(c->sockets.socks) <= IDLE_KEPT)
		return;
	w = look(c, now_ns);
	too_many = w.n > IDLE_KEPT ? w.n - IDLE_KEPT : 0;
	if (too_many > w.idle)
		too_many = w.idle;
	if (too_many) {
		qsort(w.sock, w.idle, sizeof(struct mg_sock *), by_idle_since);
		forget_all(c, w.sock, too_many);
	}
	free(w.sock);
}
