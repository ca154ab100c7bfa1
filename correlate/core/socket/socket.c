/* SPDX-License-Identifier: MIT */
/* Sockets: their states, their ends, and the data they hold. */
#include "socket/socket.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "bytes/ranges.h"
#include "bytes/resent.h"
#include "bytes/why_state.h"
#include "bytes/timed_sends.h"
#include "bytes/zerocopy_sends.h"
#include "coverage/gap.h"
#include "exchange/exchange.h"
#include "socket/anchor.h"
#include "socket/closed.h"
#include "socket/connect.h"
#include "socket/peer.h"
#include "socket/requests.h"
#include "socket/state_slots.h"
#include "socket/synack.h"
#include "task/process.h"
#include "task/thread.h"
#include "task/threads.h"

struct mg_sock *sock_look_up(struct core *c, uint64_t cookie)
{
	struct mg_sock *s = NULL;

	if (cookie)
		HASH_FIND(hh, c->sockets.socks, &cookie, sizeof(cookie), s);
	if (!s && c->sockets.closed.all)
		s = closed_unpack(c, cookie);
	if (!s && cookie & MG_REQUEST_ID)
		return request_sock(c, cookie);
	return s;
}

void sock_lives(struct core *c, struct mg_sock *s)
{
	if (s->listed.is)
		return;
	s->listed.is = true;
	s->listed.next = c->sockets.live;
	s->listed.at = &c->sockets.live;
	if (c->sockets.live)
		c->sockets.live->listed.at = &s->listed.next;
	c->sockets.live = s;
}

void sock_no_longer_live(struct mg_sock *s)
{
	if (!s->listed.is)
		return;
	s->listed.is = false;
	*s->listed.at = s->listed.next;
	if (s->listed.next)
		s->listed.next->listed.at = s->listed.at;
}

/* Time after a socket's end in which calls that were in it may return. */
#define DEAD_NS 1000000000

struct mg_sock *sock_next_live(struct core *c, struct mg_sock *s)
{
	struct mg_sock **next = s ? &s->listed.next : &c->sockets.live;

	while (*next && (*next)->state == MG_TCP_CLOSE &&
		(*next)->listed.closed_ns + DEAD_NS < c->times.kernel_until_ns)
		sock_no_longer_live(*next);
	return *next;
}

struct mg_sock *sock_make(struct core *c, uint64_t cookie)
{
	struct mg_sock *s = sock_look_up(c, cookie);

	if (!cookie)
		return NULL;
	if (cookie & MG_REQUEST_ID)
		return s;
	if (s)
		return c->recent.sock[cookie % RECENT_SOCKS] = s;
	s = mg_calloc(1, sizeof(*s));
	if (!s || !state_slots_take(c, s)) {
		free(s);
		return NULL;
	}
	s->cookie = cookie;
	s->kind = MG_KIND_tcp;
	s->tx.sock = s->rx.sock = s;
	s->rx.rx = true;
	s->unclaimed = !core_observes(c, MG_EVENT_sys_exit);
	HASH_ADD(hh, c->sockets.socks, cookie, sizeof(s->cookie), s);
	if (!s->hh.tbl)
		state_slots_give(c, s);
	s = hash_kept(s);
	if (!s)
		return NULL;
	sock_lives(c, s);
	gap_on_new_socket(c, s);
	return c->recent.sock[cookie % RECENT_SOCKS] = s;
}

/*
 * Notes that calls are recorded from here on. Their hook is attached last: sockets open by then
 * have been met.
 */
void socks_claim(struct core *c)
{
	struct mg_sock *s, *tmp;

	HASH_ITER (hh, c->sockets.socks, s, tmp)
		s->unclaimed = false;
}

void flow_touch(struct flow *f, uint64_t t)
{
	if (!f->active.first)
		f->active.first = t;
	f->active.last = t;
}

void flow_lives(struct flow *f, uint64_t t)
{
	if (!f->active.first_told)
		f->active.first_told = t;
	f->active.last_told = t;
}

#define PASSED_MAX 1024

void flow_pass(struct flow *f, struct ranges *layer, uint64_t end)
{
	if (end > f->total)
		f->total = end;
	ranges_keep(layer, PASSED_MAX);
	ranges_keep(&f->copies.again, PASSED_MAX);
}

/* Frees the state of bytes in flight. */
static void trim(const struct core *c, struct flow *f)
{
	for (int i = 0; i < TX_LAYERS; i++)
		ranges_trim(&f->layer[i]);
	ranges_trim(&f->paired.call);
	ranges_trim(&f->paired.x);
	ranges_trim(&f->paired.r);
	ranges_trim(&f->copies.again);
	why_trim(f->why);
	if (c->sockets.closed.wanted) /* its state is trimmed when it is looked at to be packed */
		return;
	core_await_listeners(c);
	if (*f->state)
		c->attached.does.trim(c->attached.what, *f->state);
}

void flow_closed(const struct core *c, struct flow *f)
{
	resent_settle(c, f, UINT64_MAX);
	ranges_drop(&f->layer[TX_IP_OUT], f->done);
}

void sock_ends(const struct core *c, struct mg_sock *s, uint64_t now)
{
	s->tx.ack.no_window = false;
	if (c->apart)
		facts_apart_ended(c->apart, s->tx.state, now);
	else if (*s->tx.state)
		c->attached.does.ended(*s->tx.state, now);
}

static bool was_open(uint8_t state)
{
	return state != MG_TCP_SYN_SENT && state != MG_TCP_SYN_RECV && state != MG_TCP_CLOSE;
}

/* Notes the peer's FIN by the state change, for where its segment is not seen. */
static void note_fin(struct flow *rx, const struct mg_sock_state *p)
{
	if (rx->fin.seen || p->now != MG_TCP_CLOSE_WAIT)
		return;
	rx->fin.seen = true;
	rx->fin.seq = p->rcv_nxt - 1;
}

void sock_on_reset(struct core *c, const struct mg_tcp_reset *p)
{
	struct mg_sock *s = p->sock ? sock_find(c, p->sock) : NULL;

	if (s && !s->lport)
		s->lport = p->lport;
}

struct mg_sock *sock_on_state(struct core *c, const struct mg_event *e)
{
	const struct mg_sock_state *p = &e->sock_state;
	struct mg_sock *s = sock_get(c, p->sock);

	if (!s)
		return NULL;
	flow_lives(&s->tx, e->cycles);
	s->netns = p->netns;
	s->family = p->family;
	if (p->lport) /* a closed socket has given its port back */
		s->lport = p->lport;
	if (p->rport)
		s->rport = p->rport;
	s->state = p->now;
	if (p->now == MG_TCP_SYN_SENT && !s->user.pid && e->tid) { /* by connect(), or a send */
		struct thread *t = thread_get(c, e->tid, e->pid);

		if (t)
			sock_used_by(c, s, t);
	}
	connect_on_state(c, s, e);
	note_fin(&s->rx, p);
	if (was_open(p->old))
		exchange_on_close(s, p, e->cycles);
	sock_lives(c, s);
	if (p->now != MG_TCP_CLOSE) {
		closed_on_open(c, s);
	} else {
		s->listed.closed_ns = e->time_ns;
		sock_ends(c, s, e->cycles);
		flow_closed(c, &s->tx);
		trim(c, &s->tx);
		trim(c, &s->rx);
		peer_forget(c, s);
		closed_note(c, s);
	}
	if (p->ulp)
		s->ulp = p->ulp;
	if (s->met.late)
		sock_on_late_state(s, p);
	if (p->opener)
		s->opener = p->opener;
	if (sock_side(s) == SIDE_SERVER)
		port_accepts(&c->sockets, s->lport);
	if (p->old == MG_TCP_ESTABLISHED || p->old == MG_TCP_CLOSE_WAIT) {
		uint64_t off; /* before our FIN takes a sequence number */

		if (s->tx.anchor.set && flow_offset(&s->tx, p->write_seq, &off) &&
			off > s->tx.total)
			s->tx.total = off;
	}
	/* before it was open its numbers were another connection's, or none */
	if (c->counts.lost_kernel && s->rx.anchor.set &&
		was_open(p->old)) { /* position read so far; a FIN has a number, too */
		uint32_t read = p->copied_seq;
		uint64_t off;

		if ((int32_t)(p->rcv_nxt - 1 - read) < 0)
			read = p->rcv_nxt - 1;
		if (flow_offset(&s->rx, read, &off) && off > s->rx.total)
			s->rx.total = off;
	}
	if (p->now == MG_TCP_ESTABLISHED && p->opener && !s->met.opened) {
		s->met.opened = true;
		s->ends = (struct ends){p->write_seq - 1, p->rcv_nxt - 1};
		anchor_set(&s->tx.anchor, p->write_seq, 0, false);
		anchor_set(&s->rx.anchor, p->rcv_nxt, 0, false);
		/* the replies to refused attempts had other numbers */
		s->tx.ack.to = s->tx.ack.before = 0;
		peer_link(c, s);
		if (p->opener == OPENER_PEER)
			synack_on_established(c, s, p->write_seq);
	}
	return s;
}

void sock_used_by(struct core *c, struct mg_sock *s, struct thread *t)
{
	const struct process *p = process_of(c, t);

	s->user.tid = t->tid;
	s->user.pid = t->pid;
	s->user.program = p ? p->program : NULL;
}

void sock_on_ulp(struct core *c, uint64_t cookie)
{
	struct mg_sock *s = sock_find(c, cookie);

	if (s && !s->ulp)
		s->ulp = MG_ULP_OTHER;
}

void sock_on_addr(struct core *c, const struct mg_event *e)
{
	struct mg_sock *s = sock_get(c, e->sock_addr.sock);

	if (!s)
		return;
	memcpy(s->laddr, e->sock_addr.laddr, 16);
	memcpy(s->raddr, e->sock_addr.raddr, 16);
	s->has_addr = true;
	if (s->kind == MG_KIND_tcp)
		peer_link_by_place(c, s);
}

void flow_free(const struct core *c, struct flow *f)
{
	for (int i = 0; i < TX_LAYERS; i++)
		ranges_free(&f->layer[i]);
	core_await_listeners(c);
	if (f->state && *f->state)
		c->attached.does.free_state(*f->state);
	call_ends_free(&f->call_ends);
	why_free(f->why);
	zerocopy_free(f->zerocopy);
	timed_sends_free(f->ack.timed);
	free(f->ack.on_way);
	ranges_free(&f->copies.again);
	resent_free(f->copies.resent_times);
	ranges_free(&f->paired.call);
	ranges_free(&f->paired.x);
	ranges_free(&f->paired.r);
}
