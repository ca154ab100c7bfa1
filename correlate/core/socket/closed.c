/* SPDX-License-Identifier: MIT */
/* Decides when closed sockets are packed and unpacked. */

#include "socket/closed.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "coverage/gap.h"
#include "exchange/exchange.h"
#include "socket/anchor.h"
#include "socket/closed_pack.h"
#include "socket/socket.h"

static size_t size_of(const struct closed_sock *k)
{
	return sizeof(*k) + k->size;
}

static void free_sock(struct core *c, struct mg_sock *s)
{
	closed_empty(c, s);
	free(s);
}

/* Returns an unpacked copy; NULL if memory is short. */
static struct mg_sock *unpacked(struct core *c, const struct closed_sock *k)
{
	struct mg_sock *s = mg_calloc(1, sizeof(*s));

	if (!s || closed_unpack_to(c, k, s))
		return s;
	free_sock(c, s);
	return NULL;
}

static void make_peers(struct mg_sock *s, struct mg_sock *peer)
{
	s->peer = peer;
	peer->peer = s;
}

/* Finishes both ends in an order that is always the same. */
static void finish(struct core *c, struct mg_sock *s, struct mg_sock *peer)
{
	struct mg_sock *second = peer && peer->cookie < s->cookie ? s : peer;

	if (!c->sockets.closed.finish)
		return;
	c->sockets.closed.finish(c, second == s ? peer : s);
	if (second)
		c->sockets.closed.finish(c, second);
}

static struct closed_sock *find(const struct core *c, uint64_t cookie)
{
	struct closed_sock *k = NULL;

	HASH_FIND(hh, c->sockets.closed.all, &cookie, sizeof(cookie), k);
	return k;
}

/* Finds one when its listener's states may be used: what these ask for may pack it anew. */
static struct closed_sock *awaited(const struct core *c, uint64_t cookie)
{
	if (!find(c, cookie))
		return NULL;
	core_await_listeners(c);
	return find(c, cookie);
}

/* Tells the listener whose states are packed with the sockets how much memory these take. */
static void account(const struct core *c, size_t more, size_t less)
{
	if (c->attached.what)
		c->attached.does.packed(c->attached.what, more, less);
}

static bool keep(struct core *c, struct closed_sock *k)
{
	HASH_ADD(hh, c->sockets.closed.all, cookie, sizeof(k->cookie), k);
	if (!k->hh.tbl)
		return false;
	account(c, size_of(k), 0);
	return true;
}

static void forget(struct core *c, struct closed_sock *k)
{
	HASH_DELETE(hh, c->sockets.closed.all, k);
	if (k->is_alone)
		HASH_DELETE(hh_alone, c->sockets.closed.alone, k);
	account(c, 0, size_of(k));
	free(k);
}

/* Replaces a socket by its packed form. */
static void leave(struct core *c, struct mg_sock *s, struct closed_sock *k)
{
	struct mg_sock **recent = &c->recent.sock[s->cookie % RECENT_SOCKS];

	if (s->in.alone) {
		HASH_DELETE(hh_alone, c->sockets.alone, s);
		HASH_ADD(hh_alone, c->sockets.closed.alone, ends, sizeof(k->ends), k);
		k->is_alone = k->hh_alone.tbl;
	}
	HASH_DEL(c->sockets.socks, s);
	sock_no_longer_live(s);
	if (*recent == s)
		*recent = NULL;
	c->sockets.closed.stay -= s->in.closed;
	free_sock(c, s);
}

/* Packs both ends of a connection together, so that each finds the other. */
static void pack(struct core *c, struct mg_sock *s)
{
	struct mg_sock *peer = s->peer;
	struct closed_sock *k = closed_packed(c, s), *other = peer ? closed_packed(c, peer) : NULL;

	if (!k || (peer && !other) || !keep(c, k)) {
		free(k);
		free(other);
		return;
	}
	if (peer && !keep(c, other)) {
		forget(c, k);
		free(other);
		return;
	}
	leave(c, s, k);
	if (peer)
		leave(c, peer, other);
}

static uint64_t take_first(struct closed_queue *q)
{
	uint64_t cookie = q->v[q->head];

	q->head = (q->head + 1) % CLOSED_MAX;
	q->len--;
	return cookie;
}

static void put_last(struct closed_queue *q, uint64_t cookie)
{
	if (q->len == CLOSED_MAX) /* the oldest stays as it is */
		take_first(q);
	q->v[(q->head + q->len++) % CLOSED_MAX] = cookie;
}

void closed_on_open(struct core *c, struct mg_sock *s)
{
	struct closed_socks *w = &c->sockets.closed;

	if (!w->wanted || s->in.open)
		return;
	s->in.open = true;
	w->stay -= s->in.closed; /* a socket may be connected again */
	s->in.closed = false;
	if (++w->open > w->open_most)
		w->open_most = w->open;
	if (w->waiting.len > CLOSED_WAIT) /* it may need their memory */
		w->due += 2;
}

static void count_closed(struct closed_socks *w, struct mg_sock *s)
{
	w->open -= s->in.open;
	w->stay += !s->in.closed;
	s->in.open = false;
	s->in.closed = true;
}

void closed_note(struct core *c, struct mg_sock *s)
{
	struct closed_socks *w = &c->sockets.closed;

	if (!w->wanted)
		return;
	count_closed(w, s);
	put_last(&w->waiting, s->cookie);
	w->due += 2; /* two for one, so that fewer wait over time */
}

/*
 * Returns whether more stay than may. Where old ones are forgotten they are packed soon: what a
 * connection has left to tell is told then, which is late enough.
 */
static bool too_many_stay(const struct closed_socks *w)
{
	return w->keep || w->open + w->stay > w->open_most || w->waiting.len > CLOSED_WAIT_MOST;
}

/* Sockets that have ended, to be packed. */
struct ended {
	uint64_t cookie[2 * CLOSED_AT_ONCE];
	uint32_t n;
};

static void each_of(struct core *c, struct mg_sock *s, void (*fn)(void *what, void *state))
{
	core_await_listeners(c);
	if (*s->tx.state)
		fn(c->attached.what, *s->tx.state);
	if (*s->rx.state)
		fn(c->attached.what, *s->rx.state);
}

static void look_at(struct core *c, uint64_t cookie, bool large_ones, struct ended *ended)
{
	struct mg_sock *s = NULL, *peer;

	HASH_FIND(hh, c->sockets.socks, &cookie, sizeof(cookie), s);
	peer = s ? s->peer : NULL;
	if (!s || (peer && peer->state != MG_TCP_CLOSE)) /* then it comes with its peer */
		return;
	if (s->kept.by || (peer && peer->kept.by)) {
		put_last(&c->sockets.closed.waiting, cookie);
		return;
	}
	if (!large_ones) {
		each_of(c, s, c->attached.does.trim);
		if (peer)
			each_of(c, peer, c->attached.does.trim);
	}
	if (!large_ones && closed_bounded(c, s) + (peer ? closed_bounded(c, peer) : 0) >
				   c->sockets.closed.large_from)
		put_last(&c->sockets.closed.large, cookie);
	else
		ended->cookie[ended->n++] = cookie;
}

/* Ends what the connection has left to tell. */
static void end(struct core *c, uint64_t cookie)
{
	struct mg_sock *s = NULL;

	HASH_FIND(hh, c->sockets.socks, &cookie, sizeof(cookie), s);
	if (s)
		exchange_end(c, s, 0);
}

static void pack_ended(struct core *c, uint64_t cookie)
{
	struct mg_sock *s = NULL;

	HASH_FIND(hh, c->sockets.socks, &cookie, sizeof(cookie), s);
	/* else it has been packed with its peer */
	if (s && closed_fits(c, s) && (!s->peer || closed_fits(c, s->peer)))
		pack(c, s);
}

/* Forgets those that were packed first, each with its peer, beyond the number to keep. */
static void forget_oldest(struct core *c)
{
	const struct closed_socks *w = &c->sockets.closed;

	if (w->keep)
		core_await_listeners(c);
	while (w->keep && HASH_COUNT(w->all) > w->keep) {
		struct closed_sock *k = w->all, *other = k->peer ? find(c, k->peer) : NULL;

		forget(c, k);
		if (other)
			forget(c, other);
	}
}

void closed_pack(struct core *c)
{
	struct closed_socks *w = &c->sockets.closed;
	uint32_t most = w->due < CLOSED_AT_ONCE ? w->due : CLOSED_AT_ONCE;
	struct ended ended = {.n = 0};

	w->due = 0;
	for (uint32_t due = most; due && w->waiting.len > CLOSED_WAIT && too_many_stay(w); due--)
		look_at(c, take_first(&w->waiting), false, &ended);
	for (uint32_t due = most; due && w->large.len > CLOSED_WAIT_LARGE; due--)
		look_at(c, take_first(&w->large), true, &ended);
	for (uint32_t i = 0; i < ended.n; i++)
		end(c, ended.cookie[i]);
	for (uint32_t i = 0; i < ended.n; i++) /* only the first waits for listeners */
		pack_ended(c, ended.cookie[i]);
	forget_oldest(c);
}

static struct mg_sock *enter(struct core *c, struct mg_sock *s, const struct closed_sock *k)
{
	uint32_t missed = c->losses.hole_next - k->holes;

	HASH_ADD(hh, c->sockets.socks, cookie, sizeof(s->cookie), s);
	if (!s->hh.tbl) {
		free_sock(c, s);
		return NULL;
	}
	sock_lives(c, s);
	if (k->is_alone) {
		HASH_ADD(hh_alone, c->sockets.alone, ends, sizeof(s->ends), s);
		s->in.alone = s->hh_alone.tbl;
	}
	for (uint32_t i = missed < HOLES ? missed : HOLES; i > 0; i--)
		gap_touch(c, s, &c->losses.holes[(c->losses.hole_next - i) % HOLES]);
	return s;
}

static struct mg_sock *unpack(struct core *c, struct closed_sock *k)
{
	struct closed_sock *other = k->peer ? find(c, k->peer) : NULL;
	struct mg_sock *s = unpacked(c, k), *peer = other ? unpacked(c, other) : NULL;

	s = s ? enter(c, s, k) : NULL;
	peer = peer ? enter(c, peer, other) : NULL;
	if (s && peer)
		make_peers(s, peer);
	if (s)
		finish(c, s, peer);
	forget(c, k);
	if (other)
		forget(c, other);
	return s;
}

struct mg_sock *closed_unpack(struct core *c, uint64_t cookie)
{
	struct closed_sock *k = awaited(c, cookie);
	struct mg_sock *s = k ? unpack(c, k) : NULL;

	if (s)
		closed_note(c, s);
	return s;
}

struct mg_sock *closed_unpack_alone(struct core *c, const struct ends *ends)
{
	struct closed_sock *k = NULL;

	HASH_FIND(hh_alone, c->sockets.closed.alone, ends, sizeof(*ends), k);
	return k ? closed_unpack(c, k->cookie) : NULL;
}

/* Unpacks each socket of at least `bytes` bytes, passes its states to `fn` and packs it again. */
static void each_packed(struct core *c, size_t bytes, void (*fn)(void *what, void *state))
{
	size_t room = HASH_COUNT(c->sockets.closed.all), n = 0;
	uint64_t *cookies = mg_calloc(room + 1, sizeof(*cookies));
	const struct closed_sock *k;

	for (k = c->sockets.closed.all; k && cookies; k = k->hh.next)
		if (k->size >= bytes)
			cookies[n++] = k->cookie;
	for (size_t i = 0; i < n; i++) {
		struct closed_sock *one = find(c, cookies[i]);
		struct mg_sock *s = one ? unpack(c, one) : NULL, *peer = s ? s->peer : NULL;

		if (!s)
			continue;
		each_of(c, s, fn);
		if (peer)
			each_of(c, peer, fn);
		if (closed_fits(c, s) && (!peer || closed_fits(c, peer)))
			pack(c, s);
	}
	free(cookies);
}

void core_each_state(struct core *c, size_t packed, void (*fn)(void *what, void *state))
{
	struct mg_sock *s, *tmp;

	HASH_ITER (hh, c->sockets.socks, s, tmp)
		each_of(c, s, fn);
	if (packed != SIZE_MAX)
		each_packed(c, packed, fn);
}

/* Unpacks into the place of the socket shown before. Returns NULL if memory is short. */
static struct mg_sock *show(struct core *c, struct mg_sock **shown, const struct closed_sock *k)
{
	if (!*shown)
		*shown = mg_malloc(sizeof(**shown));
	else
		closed_empty(c, *shown);
	if (!*shown)
		return NULL;
	memset(*shown, 0, sizeof(**shown));
	if (closed_unpack_to(c, k, *shown))
		return *shown;
	free_sock(c, *shown); /* no later query may find a half of it */
	return *shown = NULL;
}

const struct mg_sock *core_sock(struct core *c, uint64_t cookie)
{
	struct mg_sock *s = NULL, *peer, **shown = c->sockets.closed.shown;
	const struct closed_sock *k, *other;

	HASH_FIND(hh, c->sockets.socks, &cookie, sizeof(cookie), s);
	if (s)
		return s;
	for (int i = 0; i < 2; i++)
		if (shown[i] && shown[i]->cookie == cookie)
			return shown[i];
	k = awaited(c, cookie);
	if (!k)
		return NULL;
	other = k->peer ? find(c, k->peer) : NULL;
	s = show(c, &shown[0], k);
	peer = other ? show(c, &shown[1], other) : NULL;
	if (s && peer)
		make_peers(s, peer);
	if (s)
		finish(c, s, peer);
	return s;
}

struct mg_sock *core_keep_sock(struct core *c, uint64_t cookie)
{
	struct mg_sock *s = NULL;

	HASH_FIND(hh, c->sockets.socks, &cookie, sizeof(cookie), s);
	return s ? s : closed_unpack(c, cookie);
}

void core_each_sock(struct core *c, void (*fn)(void *arg, const struct mg_sock *s), void *arg)
{
	const struct closed_sock *k;

	for (const struct mg_sock *s = c->sockets.socks; s; s = s->hh.next)
		fn(arg, s);
	for (k = c->sockets.closed.all; k; k = k->hh.next) {
		const struct mg_sock *s = core_sock(c, k->cookie);

		if (s)
			fn(arg, s);
	}
}

size_t core_sock_count(const struct core *c)
{
	return HASH_COUNT(c->sockets.socks) + HASH_COUNT(c->sockets.closed.all);
}

void core_pack_closed(struct core *c)
{
	/* their last bytes are settled each time that they are looked at */
	static const enum fact again[] = {FACT_range, FACT_resent, FACT_crossing};

	for (size_t i = 0; i < sizeof(again) / sizeof(again[0]); i++)
		if (c->facts.of[again[i]].once)
			return;
	c->sockets.closed.wanted = true;
	c->sockets.closed.large_from = CLOSED_LARGE;
}

void core_forget_closed(struct core *c, size_t keep)
{
	c->sockets.closed.keep = keep;
	c->forgetting.each_ns = FORGET_EACH_NS;
}

void closed_free(struct core *c)
{
	struct closed_sock *k, *tmp;

	for (int i = 0; i < 2; i++)
		if (c->sockets.closed.shown[i])
			free_sock(c, c->sockets.closed.shown[i]);
	HASH_CLEAR(hh_alone, c->sockets.closed.alone);
	HASH_ITER (hh, c->sockets.closed.all, k, tmp) {
		HASH_DELETE(hh, c->sockets.closed.all, k);
		free(k);
	}
	free(c->sockets.closed.room.bytes);
}
