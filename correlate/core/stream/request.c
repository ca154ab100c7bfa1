/* SPDX-License-Identifier: MIT */
/*
 * Matches data that complete a handshake: they arrive for a request to connect, which has no socket
 * yet, under a number of the request's own. The server's first byte follows its initial sequence
 * number, which the data acknowledge: so the socket established with that number, and expecting the
 * data's, is the one they are for (method, "Byte lineage").
 */
#include "stream/request.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "clock/queue.h"
#include "socket/anchor.h"
#include "socket/drops.h"
#include "socket/requests.h"
#include "socket/socket.h"
#include "stream/rx.h"

#define REQUESTS_MAX 4096     /* requests remembered */
#define WAITING_MAX  64       /* events of each request that wait for its socket */
#define SOON_NS      10000000 /* usually the socket follows in the same softirq */
#define WINDOW_MAX   (1u << 30)

static void discard(struct request *r)
{
	free(r->waiting);
	free(r);
}

/*
 * Frees a request that has become no socket. Its drops are emitted without one; what else waits
 * are bytes of no flow.
 */
static void give_up(struct core *c, struct request *r)
{
	for (uint32_t i = 0; i < r->count; i++)
		if (r->waiting[i].id == MG_EVENT_drop)
			drop_tell(c, NULL, &r->waiting[i]);
	discard(r);
}

static void forget(struct core *c, struct request **all, struct request *r)
{
	HASH_DEL(*all, r);
	give_up(c, r);
}

/*
 * Adds a request; forgets the oldest if there are too many. Returns false if memory is short, and
 * frees the request.
 */
static bool add(struct core *c, struct request **all, struct request *r)
{
	if (HASH_COUNT(*all) >= REQUESTS_MAX)
		forget(c, all, *all);
	HASH_ADD(hh, *all, id, sizeof(r->id), r);
	if (r->hh.tbl)
		return true;
	give_up(c, r);
	return false;
}

void requests_finish(struct core *c)
{
	struct request *r, *tmp;

	HASH_ITER (hh, c->requests.waiting, r, tmp) {
		forget(c, &c->requests.waiting, r);
	}
}

void requests_free(struct core *c)
{
	struct request **all[] = {&c->requests.waiting, &c->requests.done}, *r, *tmp;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		HASH_ITER (hh, *all[i], r, tmp) {
			HASH_DEL(*all[i], r);
			discard(r);
		}
}

/* Returns whether the socket established here is the one a segment was for. */
static bool becomes(const struct mg_event *e, uint32_t seq, uint32_t ack)
{
	const struct mg_sock_state *p = &e->sock_state;

	if (e->id != MG_EVENT_sock_state || p->now != MG_TCP_ESTABLISHED ||
		p->opener != OPENER_PEER)
		return false;
	/* with Fast Open the server may have sent data by then, and the SYN's data count */
	return (p->write_seq == ack && seq - p->rcv_nxt < WINDOW_MAX) ||
	       (p->rcv_nxt == seq && p->write_seq - ack < WINDOW_MAX);
}

/* Looks for the socket among the events that wait for the clock, where it usually is already. */
static void look_ahead(struct core *c, struct request *r, const struct mg_event *now)
{
	const struct mg_packet *p = &now->packet;
	const struct mg_event *e = queue_first(&c->due.pending);
	const struct mg_sock_open *open = NULL; /* the last one seen */
	struct mg_sock *s;

	while (e && e->time_ns <= now->time_ns + SOON_NS && !becomes(e, p->seq, p->ack)) {
		if (e->id == MG_EVENT_sock_open)
			open = &e->sock_open;
		e = queue_after(&c->due.pending, e);
	}
	if (!e || !becomes(e, p->seq, p->ack) || e->sock_state.write_seq != p->ack)
		return;
	s = sock_get(c, e->sock_state.sock);
	if (!s || s->rx.anchor.set)
		return;
	s->netns = e->sock_state.netns;
	anchor_set(&s->tx.anchor, e->sock_state.write_seq, 0, false);
	/* data of the SYN (Fast Open) are reported when the socket is established */
	anchor_set(&s->rx.anchor, e->sock_state.rcv_nxt,
		open && open->sock == s->cookie ? open->bytes_received : 0, false);
	r->sock = s->cookie;
}

/* Returns whether the event is kept. */
static bool wait_for_sock(struct request *r, const struct mg_event *e)
{
	struct mg_event *more;

	if (r->count == WAITING_MAX)
		return false;
	more = mg_realloc(r->waiting, (r->count + 1) * sizeof(*more));
	if (!more)
		return false;
	r->waiting = more;
	memcpy(&more[r->count++], e, queue_size_of(e));
	return true;
}

/* Forgets an earlier request with the same number, as it had the same addresses and ports. */
static void forget_other(struct core *c, struct request **all, const struct mg_packet *p)
{
	struct request *r = request_find(*all, p->sock);

	if (r && r->ack != p->ack)
		forget(c, all, r);
}

static struct request *meet(struct core *c, const struct mg_event *e)
{
	struct request *r = mg_calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->id = e->packet.sock;
	r->seq = e->packet.seq;
	r->ack = e->packet.ack;
	look_ahead(c, r, e);
	return add(c, r->sock ? &c->requests.done : &c->requests.waiting, r) ? r : NULL;
}

struct mg_sock *request_on_packet(struct core *c, const struct mg_event *e)
{
	const struct mg_packet *p = &e->packet;
	struct request *r;

	forget_other(c, &c->requests.done, p);
	forget_other(c, &c->requests.waiting, p);
	r = request_find(c->requests.done, p->sock);
	if (!r)
		r = request_find(c->requests.waiting, p->sock);
	if (!r)
		r = meet(c, e);
	if (!r)
		return NULL;
	if ((int32_t)(p->seq - r->seq) < 0)
		r->seq = p->seq;
	if (!r->sock)
		wait_for_sock(r, e);
	return r->sock ? sock_find(c, r->sock) : NULL;
}

bool request_on_drop(struct core *c, const struct mg_event *e)
{
	struct request *r = request_find(c->requests.waiting, e->drop.sock);

	return r && wait_for_sock(r, e);
}

static void replay(struct core *c, struct request *r)
{
	for (uint32_t i = 0; i < r->count; i++) {
		const struct mg_event *e = &r->waiting[i];
		struct annotation a = {0};

		if (e->id == MG_EVENT_drop)
			drop_tell(c, sock_find(c, r->sock), e);
		else
			rx_on_packet(c, NULL, e, &a);
	}
	free(r->waiting);
	r->waiting = NULL;
	r->count = 0;
}

void requests_on_state(struct core *c, struct mg_sock *s, const struct mg_event *e)
{
	struct request *r, *tmp;

	HASH_ITER (hh, c->requests.waiting, r, tmp) {
		if (!becomes(e, r->seq, r->ack))
			continue;
		HASH_DEL(c->requests.waiting, r);
		r->sock = s->cookie;
		if (add(c, &c->requests.done, r))
			replay(c, r);
	}
}
