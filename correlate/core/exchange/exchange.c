/* SPDX-License-Identifier: MIT */
#include "exchange/exchange.h"

#include <stdlib.h>

#include "alloc.h"
#include "bytes/resent.h"
#include "event_table.h"
#include "exchange/exchange_fact.h"
#include "exchange/in_program.h"
#include "task/thread.h"
#include "task/threads.h"

/*
 * Exchanges of a socket that may wait for the times of their bytes, and for those of their calls,
 * which may be as many as a thread keeps for their application events.
 */
#define WAITING_MAX   4
#define UNSETTLED_MAX 72

/* Returns whether the local port is likely the server's: others were accepted there, or it is
 * lower. */
static bool by_ports(const struct core *c, uint16_t local, uint16_t remote)
{
	bool accepts = port_accepted(&c->sockets, local);

	return accepts == port_accepted(&c->sockets, remote) ? local < remote : accepts;
}

/*
 * Returns whether the socket is the server's end; `assumed` tells whether neither an event nor
 * TCP's counters say so.
 */
static bool is_server(
	const struct core *c, const struct mg_sock *s, bool first_is_read, bool *assumed)
{
	const struct mg_sock *peer = s->peer;

	*assumed = false;
	if (sock_side(s) != SIDE_UNKNOWN)
		return sock_side(s) == SIDE_SERVER;
	if (peer && sock_side(peer) != SIDE_UNKNOWN)
		return sock_side(peer) == SIDE_CLIENT;
	if (s->met.accepted || (peer && peer->met.accepted))
		return s->met.accepted;
	*assumed = true;
	if (peer && peer->exchanges)
		return !peer->exchanges->is_server;
	if (s->kind == MG_KIND_tcp && s->lport && s->rport && s->lport != s->rport)
		return by_ports(c, s->lport, s->rport);
	return first_is_read;
}

/*
 * Returns whether the event with the ports, which tell the ends apart, is still to come: the socket
 * is older than the hooks. Where events were lost, that one may not come.
 */
static bool is_being_met(const struct core *c, const struct mg_sock *s)
{
	return s->kind == MG_KIND_tcp && sock_side(s) == SIDE_UNKNOWN && !s->met.opened &&
	       !s->state && !s->lport && !c->counts.lost_kernel;
}

static struct exchanges *begin(
	const struct core *c, struct mg_sock *s, const struct exchange_call *k)
{
	struct exchanges *x = s->exchanges = mg_calloc(1, sizeof(*x));

	if (!x)
		return NULL;
	x->is_server = is_server(c, s, k->rx, &x->is_assumed);
	x->is_older = s->kind == MG_KIND_tcp && !s->met.opened;
	x->latest = k->enter;
	x->next[0] = x->next[1] = FACT_NONE;
	return x;
}

static uint64_t at(const struct exchange_call *k)
{
	return k->rx ? k->exit : k->enter;
}

static void set_edge(struct exchange *e, enum exchange_edge_of which, const struct exchange_call *k)
{
	e->edge[which] = (struct exchange_edge){
		.t = at(k), .exit = k->exit, .pid = k->pid, .tid = k->tid, .function = k->function};
}

/* ---- exchanges that have ended ---- */

static bool is_settled(const struct exchange *e)
{
	for (int i = 0; i < EXCHANGE_EDGES; i++)
		if (e->edge[i].exit && !e->edge[i].is_settled)
			return false;
	return true;
}

/* Returns whether a range that tells when bytes left may still come. */
static bool will_depart(const struct mg_sock *s, const struct exchange *e)
{
	const struct exchange_bytes *sent = s->exchanges->is_server ? &e->reply : &e->request;
	uint64_t off = sent->offset;

	if (!s->exchanges->is_server)
		off += sent->bytes - 1;
	return s->kind == MG_KIND_tcp && !s->ulp && !e->departed && sent->bytes &&
	       sent->offset != FACT_NONE && s->tx.done <= off;
}

/* Returns whether the server's end may still tell its times. */
static bool will_be_told(const struct mg_sock *s, const struct exchange *e)
{
	const struct exchanges *server = s->peer ? s->peer->exchanges : NULL;

	return server && !s->exchanges->is_server && server->is_server && e->reply.calls &&
	       e->request.calls && !e->there.reply_first &&
	       server->told.request_end < e->request.offset + e->request.bytes;
}

static bool is_pending(const struct flow *f, const struct exchange_bytes *b)
{
	return b->bytes && b->offset != FACT_NONE &&
	       resent_is_pending(f, b->offset, b->offset + b->bytes);
}

/* Returns whether bytes were sent again, of which it is not known yet for how long they waited. */
static bool will_be_acknowledged(const struct mg_sock *s, const struct exchange *e)
{
	const struct mg_sock *client = s->exchanges->is_server ? s->peer : s;
	const struct mg_sock *server = s->exchanges->is_server ? s : s->peer;

	return (client && is_pending(&client->tx, &e->request)) ||
	       (server && is_pending(&server->tx, &e->reply));
}

static void tell(struct core *c, struct mg_sock *s, struct exchange *e);

static bool is_ready(const struct mg_sock *s, const struct exchange *e)
{
	return is_settled(e) && !will_depart(s, e) && !will_be_told(s, e) &&
	       !will_be_acknowledged(s, e);
}

/* Returns whether the first has to be told as it is: others wait that could be told. */
static bool are_too_many(const struct exchanges *x)
{
	const struct exchange *e = x->ended;

	for (int i = 0; e && i < WAITING_MAX; i++)
		e = e->next;
	return x->waiting > UNSETTLED_MAX || (e && is_settled(e));
}

/* Emits those that are settled, in order; all of them if no more is to come. */
static void flush(struct core *c, struct mg_sock *s, bool at_end)
{
	struct exchanges *x = s->exchanges;
	struct exchange *e;

	while ((e = x->ended) && (at_end || is_ready(s, e) || are_too_many(x))) {
		x->ended = e->next;
		x->waiting--;
		tell(c, s, e);
		in_program_free(e);
		free(e);
	}
}

/* Gives the server's times to the same exchange at the client, if both ends divide it alike. */
static void tell_client(const struct exchange *e, struct exchange *to)
{
	if (to->request.offset != e->request.offset || to->request.bytes != e->request.bytes ||
		to->reply.offset != e->reply.offset)
		return;
	to->there.request_last = e->edge[REQUEST_LAST].t;
	to->there.reply_first = e->edge[REPLY_FIRST].t;
}

static void tell_clients(const struct exchange *e, struct exchanges *at_client)
{
	tell_client(e, &at_client->now);
	for (struct exchange *to = at_client->ended; to; to = to->next)
		tell_client(e, to);
}

static void tell(struct core *c, struct mg_sock *s, struct exchange *e)
{
	struct exchanges *x = s->exchanges, *other = s->peer ? s->peer->exchanges : NULL;

	in_program_emit(c, s, e);
	exchange_emit(c, s, e);
	x->told.reply_first = e->edge[REPLY_FIRST].t;
	x->told.reply_last = e->edge[REPLY_LAST].t;
	x->told.request_end = e->request.offset + e->request.bytes;
	if (!x->is_server || !other || other->is_server)
		return;
	if (e->request.calls && e->reply.calls && !e->overlaps)
		tell_clients(e, other);
	flush(c, s->peer, false);
}

/* Ends the present exchange, and begins the next one. */
static void next(struct core *c, struct mg_sock *s)
{
	struct exchanges *x = s->exchanges;
	uint64_t ordinal = x->now.ordinal;
	struct exchange *e, **last = &x->ended, new = {.ordinal = ordinal + 1};
	bool ready = !x->ended && is_ready(s, &x->now);

	e = ready ? NULL : mg_malloc(sizeof(*e));
	if (ready) {
		tell(c, s, &x->now);
		in_program_hand_on(&x->now, &new);
	} else if (e) {
		while (*last)
			last = &(*last)->next;
		*e = x->now;
		*last = e;
		x->waiting++;
	} else {
		in_program_free(&x->now);
	}
	x->now = new;
	flush(c, s, false);
}

/* ---- calls ---- */

static void add(struct exchange_bytes *b, const struct exchange_call *k, uint64_t offset)
{
	if (!b->calls++)
		b->offset = offset;
	b->bytes += k->bytes;
}

static void add_request(struct exchange *e, const struct exchange_call *k, uint64_t offset)
{
	if (!e->request.calls)
		set_edge(e, REQUEST_FIRST, k);
	set_edge(e, REQUEST_LAST, k);
	add(&e->request, k, offset);
}

static void on_request(
	struct core *c, struct mg_sock *s, const struct exchange_call *k, uint64_t offset)
{
	struct exchanges *x = s->exchanges;
	struct exchange *e = &x->now;

	/* a call to write that had begun before the reply was read */
	if (e->reply.calls && at(k) < e->edge[REPLY_FIRST].t) {
		e->overlaps = true;
	} else if (e->reply.calls) {
		bool cut_off = x->is_server && x->unfinished;

		e->overlaps |= cut_off;
		next(c, s);
		e->overlaps |= cut_off;
	}
	/* those were of another last byte */
	*(x->is_server ? &e->arrived : &e->departed) = 0;
	e->there.request_last = 0;
	add_request(e, k, offset);
}

static void on_reply(
	struct exchanges *x, const struct exchange_call *k, const struct thread *t, uint64_t offset)
{
	struct exchange *e = &x->now;

	/* a call to write that had begun before the request was read */
	if (e->request.calls && at(k) < e->edge[REQUEST_LAST].t) {
		e->overlaps = true;
		if (at(k) < e->edge[REQUEST_FIRST].t)
			return; /* it belongs to the reply before */
	}
	e->overlaps |= !x->is_server && x->unfinished;
	if (!e->reply.calls) {
		set_edge(e, REPLY_FIRST, k);
		e->read_began = x->is_server ? 0 : k->enter;
		e->busy_until = t ? t->past.wrote : 0;
	}
	set_edge(e, REPLY_LAST, k);
	add(&e->reply, k, offset);
}

/* The end of the request's direction is part of a request that has not been answered. */
static void on_end(struct exchanges *x, const struct exchange_call *k)
{
	struct exchange *e = &x->now;

	if (k->rx != x->is_server || !e->request.calls || e->reply.calls || e->half_closed)
		return;
	e->half_closed = true;
	e->last_byte = e->edge[REQUEST_LAST].t;
	set_edge(e, REQUEST_LAST, k);
}

/* Returns whether calls may be missing since the last one. */
static bool after_loss(const struct mg_sock *s, const struct exchange_call *k)
{
	uint64_t expected = s->exchanges->next[k->rx];

	return k->after_loss || (s->kind == MG_KIND_tcp && k->bytes && k->offset != FACT_NONE &&
					expected != FACT_NONE && k->offset != expected);
}

void exchange_on_call(struct core *c, struct mg_sock *s, const struct exchange_call *k)
{
	struct exchanges *x = s->exchanges;
	struct thread *t = thread_get(c, k->tid, 0);
	uint64_t offset = k->offset;
	bool lost;

	if (!exchanges_wanted(c) || (!x && (k->ends || is_being_met(c, s))))
		return;
	if (!x)
		x = begin(c, s, k);
	if (!x)
		return;
	lost = after_loss(s, k);
	x->now.lost |= lost;
	if (offset == FACT_NONE)
		offset = x->next[k->rx] == FACT_NONE ? 0 : x->next[k->rx];
	if (k->ends)
		on_end(x, k);
	else if (k->rx == x->is_server)
		on_request(c, s, k, offset);
	else
		on_reply(x, k, t, offset);
	x->now.lost |= lost;
	x->latest = k->exit;
	if (k->ends)
		return;
	x->next[k->rx] = offset + k->bytes;
	if (!k->rx)
		x->unfinished = k->is_short;
	if (!k->rx && x->is_server && t)
		t->past.wrote = k->exit;
}

void exchange_on_refusal(struct mg_sock *s)
{
	if (s->exchanges)
		s->exchanges->unfinished = true;
}

void exchange_on_close(struct mg_sock *s, const struct mg_sock_state *p, uint64_t now)
{
	struct exchanges *x = s->exchanges;

	if (!x)
		return;
	/* at the first of these changes; the peer's FIN has a sequence number, too */
	if (!x->closed.own && !x->closed.peer && !x->closed.all)
		x->closed.unread = (int32_t)(p->rcv_nxt - p->copied_seq) >
				   (p->now == MG_TCP_CLOSE_WAIT ? 1 : 0);
	if (p->now == MG_TCP_FIN_WAIT1 || p->now == MG_TCP_LAST_ACK)
		x->closed.own = now;
	else if (p->now == MG_TCP_CLOSE_WAIT || p->now == MG_TCP_CLOSING)
		x->closed.peer = now;
	else if (p->now == MG_TCP_CLOSE)
		x->closed.all = now;
}

void exchange_on_acknowledged(struct core *c, struct mg_sock *s)
{
	if (s->exchanges)
		flush(c, s, false);
	if (s->peer && s->peer->exchanges)
		flush(c, s->peer, false);
}

static bool settle_edges(struct core *c, const struct mg_sock *s, struct exchange *e,
	const struct exchange_settled *k)
{
	bool found = false;

	for (int i = 0; i < EXCHANGE_EDGES; i++) {
		struct exchange_edge *edge = &e->edge[i];

		if (edge->exit != k->exit || edge->tid != k->tid || edge->is_settled)
			continue;
		edge->is_settled = found = true;
		if (k->t) {
			edge->t = k->t;
			edge->function = k->function;
		}
	}
	/* while what the threads did is known */
	if (found && e->edge[REQUEST_LAST].is_settled && e->edge[REPLY_FIRST].is_settled)
		in_program_divide(c, s, e);
	return found;
}

void exchange_settle(struct core *c, struct mg_sock *s, const struct exchange_settled *k)
{
	struct exchanges *x = s->exchanges;
	bool found = false;

	settle_edges(c, s, &x->now, k);
	for (struct exchange *e = x->ended; e; e = e->next)
		found |= settle_edges(c, s, e, k);
	if (found)
		flush(c, s, false);
}

/* ---- bytes ---- */

static bool holds(const struct fact_range *r, uint64_t off)
{
	return off >= r->offset && off - r->offset < r->length;
}

static void take_sent(const struct exchanges *x, struct exchange *e, const struct fact_range *r)
{
	const struct exchange_bytes *b = x->is_server ? &e->reply : &e->request;
	uint64_t off = x->is_server ? b->offset : b->offset + b->bytes - 1;

	if (!b->bytes || !holds(r, off))
		return;
	if (r->transmitted)
		e->departed = r->transmitted;
	else if (r->begin && r->total != FACT_NONE)
		e->departed = r->begin + r->total;
}

static void take_received(const struct exchanges *x, struct exchange *e, const struct fact_range *r)
{
	const struct exchange_bytes *b = x->is_server ? &e->request : &e->reply;

	if (!b->bytes)
		return;
	if (holds(r, b->offset))
		e->arrived_first = r->begin;
	if (holds(r, x->is_server ? b->offset + b->bytes - 1 : b->offset))
		e->arrived = r->begin;
}

void exchange_take_range(struct mg_sock *s, const struct fact_range *r)
{
	struct exchanges *x = s->exchanges;
	void (*take)(const struct exchanges *, struct exchange *, const struct fact_range *) =
		r->flow.rx ? take_received : take_sent;

	take(x, &x->now, r);
	for (struct exchange *e = x->ended; e; e = e->next)
		take(x, e, r);
}

/* ---- messages ---- */

/* Returns the client's exchange which that call bounds; NULL if there is none. */
static struct exchange *bounded_by(
	const struct mg_sock *s, enum exchange_edge_of which, uint64_t exit)
{
	struct exchanges *x = s->exchanges;

	if (!x || x->is_server)
		return NULL;
	if (x->now.edge[which].exit == exit)
		return &x->now;
	for (struct exchange *e = x->ended; e; e = e->next)
		if (e->edge[which].exit == exit)
			return e;
	return NULL;
}

void exchange_on_message(const struct exchange_message *m)
{
	struct exchange *asks = bounded_by(m->from, REQUEST_LAST, m->sent_exit);
	struct exchange *answered = bounded_by(m->to, REPLY_FIRST, m->received_exit);

	if (asks && asks->there.request_last <= m->end) {
		asks->there.request_last = m->end;
		asks->there.by = m->to->cookie;
	}
	if (answered && answered->there.by == m->from->cookie &&
		(!answered->there.reply_first || m->begin < answered->there.reply_first))
		answered->there.reply_first = m->begin;
}

/* ---- the end ---- */

static void end_one(struct core *c, struct mg_sock *s, uint64_t now)
{
	if (!s || !s->exchanges)
		return;
	s->exchanges->open_until = now;
	if (s->exchanges->now.request.calls || s->exchanges->now.reply.calls)
		next(c, s);
	flush(c, s, true);
}

void exchange_end(struct core *c, struct mg_sock *s, uint64_t now)
{
	struct mg_sock *peer = s->peer;
	bool first = !s->exchanges || s->exchanges->is_server;

	/* the server's times go to the client */
	end_one(c, first ? s : peer, now);
	end_one(c, first ? peer : s, now);
	exchanges_free(s);
	if (peer)
		exchanges_free(peer);
}

void exchanges_free(struct mg_sock *s)
{
	struct exchange *e;

	while (s->exchanges && (e = s->exchanges->ended)) {
		s->exchanges->ended = e->next;
		in_program_free(e);
		free(e);
	}
	if (s->exchanges)
		in_program_free(&s->exchanges->now);
	free(s->exchanges);
	s->exchanges = NULL;
}
