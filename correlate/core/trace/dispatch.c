/* SPDX-License-Identifier: MIT */
/* Gives each event to the part of the core that it concerns. */
#include "trace/dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "event_table.h"
#include "tcp_names.h"
#include "call/call.h"
#include "call/call_join.h"
#include "call/call_settle.h"
#include "call/forget.h"
#include "call/mark.h"
#include "coverage/hook.h"
#include "message/datagram.h"
#include "message/datagram_rx.h"
#include "message/datagram_tx.h"
#include "socket/anchor.h"
#include "socket/drops.h"
#include "socket/socket.h"
#include "stream/ack.h"
#include "stream/request.h"
#include "stream/rx.h"
#include "stream/state.h"
#include "stream/timed_send.h"
#include "stream/tx.h"
#include "stream/tx_call.h"
#include "stream/why.h"
#include "stream/zerocopy.h"
#include "task/past.h"
#include "task/process.h"
#include "task/thread.h"
#include "task/threads.h"
#include "trace/dump.h"
#include "trace/loss.h"
#include "trace/other.h"
#include "trace/stack.h"

/*
 * Defines a handler, named as in the event table. `t` is the thread that caused the event, NULL if
 * no traced thread did.
 */
#define MAYBE __attribute__((unused))
#define ON(handler)                                                                \
	static void handle_##handler(MAYBE struct core *c, MAYBE struct thread *t, \
		MAYBE const struct mg_event *e, MAYBE struct annotation *a)

/* ---- threads ---- */

ON(call_enter)
{
	if (t)
		call_on_enter(c, t, e);
	a->rx = mg_syscall_direction(e->sys_enter.call) == MG_DIR_RX;
}

ON(call_exit)
{
	a->rx = mg_syscall_direction(e->sys_exit.call) == MG_DIR_RX;
	if (t)
		call_on_exit(c, t, e);
}

ON(switch)
{
	thread_on_switch(c, e);
}

ON(waking)
{
	thread_on_waking(c, e);
}

ON(wakeup)
{
	thread_on_wakeup(c, e);
}

ON(switch_cost)
{
	thread_on_switch_cost(c, e);
}

ON(fork)
{
	struct thread *child = thread_get(c, e->task_fork.child_tid, e->task_fork.child_pid);

	if (!child)
		return;
	if (child->has_ended) { /* it had the same id */
		call_on_thread_end(c, child);
		child->away.now = child->wake.valid = child->away.held = false;
		child->away.cpu = -1;
	}
	child->has_ended = false;
	/* the first thread may be announced by another one when that is met */
	if (e->task_fork.child_tid != e->pid || e->task_fork.child_tid == e->tid)
		child->traced = true;
	if (t && e->task_fork.child_tid != e->tid)
		past_born(c, child, t->tid, e->cycles);
	memcpy(child->comm, e->task_fork.comm, sizeof(child->comm));
	child->comm[sizeof(child->comm) - 1] = 0;
	process_on_fork(c, child, e);
}

ON(exec)
{
	struct process *p;

	t = thread_get(c, e->tid, e->pid);
	if (!t)
		return;
	call_settle_thread(c, t);
	p = process_of(c, t);
	if (p)
		process_ends(c, p);
	t->traced = true;
	memcpy(t->comm, e->task_exec.comm, sizeof(t->comm));
	t->comm[sizeof(t->comm) - 1] = 0;
	if (p)
		process_named(c, p, t->comm);
}

ON(exit)
{
	struct process *p;

	if (!t)
		return;
	p = process_of(c, t);
	call_on_thread_exit(c, t);
	if (e->task_exit.leader && p)
		process_on_exit(c, p, e->time_ns);
}

/* ---- packets, and bytes with sequence numbers ---- */

/*
 * Returns whether a packet is at its own socket: elsewhere it is listed, but passes no layer of the
 * socket's.
 */
static bool is_to_socket(int via)
{
	return via == 2;
}

/* Lists the packet only. */
ON(packet)
{
	if (e->packet.via)
		a->rx = is_to_socket(e->packet.via);
}

ON(packet_out)
{
	if (!tx_is_own(c, e))
		a->rx = is_to_socket(e->packet.via);
	else if (is_datagram(&e->packet))
		datagram_on_packet(c, t, e, a);
	else
		tx_on_packet(c, t, e, a);
}

ON(packet_in)
{
	if (e->packet.via)
		a->rx = is_to_socket(e->packet.via);
	else if (is_datagram(&e->packet))
		datagram_on_packet(c, t, e, a);
	else
		rx_on_packet(c, t, e, a);
}

ON(done)
{
	struct mg_sock *s;

	if (!tx_is_own(c, e)) {
		a->rx = is_to_socket(e->dev_done.via);
		return;
	}
	s = sock_get(c, e->dev_done.sock);
	if (s && s->kind != MG_KIND_tcp)
		datagram_on_done(c, s, e, a);
	else if (s)
		tx_on_done(c, s, e, a);
}

ON(header)
{
	a->rx = !e->ip_header.sent;
}

ON(send)
{
	if (t)
		tx_on_send(c, t, e, a);
}

ON(retransmit)
{
	tx_on_retransmit(c, e, a);
}

ON(segment)
{
	rx_on_tcp(c, t, e, a);
}

ON(in_order)
{
	rx_on_ready(c, e, a);
}

ON(copy)
{
	struct mg_sock *s = t ? sock_get(c, e->sock_copy.sock) : NULL;

	if (s && s->kind != MG_KIND_tcp)
		datagram_on_copy(c, t, s, e, a);
	else if (s)
		rx_on_copy(c, t, s, e, a);
}

ON(zerocopy_sent)
{
	zerocopy_on_sent(c, e);
}

ON(zerocopy_done)
{
	zerocopy_on_done(c, e);
}

ON(drop)
{
	const struct mg_drop *p = &e->drop;
	struct mg_sock *s = sock_get(c, p->sock);

	if (!s && request_on_drop(c, e))
		return;
	a->sock = s;
	a->rx = p->rx;
	a->length = p->len;
	if (s && s->kind != MG_KIND_tcp && p->rx)
		datagram_drop_in(s, e);
	else if (s && s->kind != MG_KIND_tcp)
		datagram_drop_out(c, t, s, p);
	drop_tell(c, s, e);
}

/* ---- sockets ---- */

ON(sock_state)
{
	struct mg_sock *s = sock_on_state(c, e);

	if (s && acks_wanted(c))
		ack_on_state(c, s, e);
	if (s && c->requests.waiting)
		requests_on_state(c, s, e);
	if (s && s->state == MG_TCP_CLOSE)
		timed_send_end(c, s);
}

ON(sock_addr)
{
	sock_on_addr(c, e);
}

ON(sock_open)
{
	sock_on_open(c, e);
}

ON(sock_new)
{
	sock_on_new(c, e);
}

ON(sock_peer)
{
	sock_on_peer(c, e, a);
}

ON(moved)
{
	sock_on_moved(c, t, e, a);
}

ON(queued)
{
	datagram_on_ready(c, t, e, a);
}

ON(listen)
{
	c->requests.listen_drops += e->tcp_listen.drops;
}

ON(protocol)
{
	if (e->id == MG_EVENT_tcp_reset)
		sock_on_reset(c, &e->tcp_reset);
	state_on_event(c, e, a);
}

ON(stamp_send)
{
	timed_send_on_send(c, t, e, a);
	state_on_event(c, e, a);
}

ON(stamp)
{
	timed_send_on_stamp(c, e, a);
}

ON(room)
{
	why_on_room(c, &e->tcp_room);
}

/* ---- the recording itself ---- */

static uint32_t rescaled(uint32_t cycles, double ns)
{
	double v = cycles * ns + 0.5;

	return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

ON(calibration)
{
	const struct mg_calibration *p = &e->calibration;

	c->trace.calibration = *p;
	c->trace.has_calibration = true;
	if (c->clock.ns_only && p->counter_hz) {
		double ns = 1e9 / (double)p->counter_hz;

		c->trace.calibration.read_cycles = rescaled(p->read_cycles, ns);
		c->trace.calibration.event_cycles = rescaled(p->event_cycles, ns);
		c->trace.calibration.event_spread = rescaled(p->event_spread, ns);
		c->trace.calibration.event_scatter = rescaled(p->event_scatter, ns);
		c->trace.calibration.system_cycles = rescaled(p->system_cycles, ns);
	}
}

ON(clock_sync) /* comes ten times a second */
{
	c->probes.listed = true;
	call_settle_old(c, e->time_ns);
	core_forget(c, e->time_ns);
}

ON(hook)
{
	bool timed = core_observes(c, MG_EVENT_stamp_send);

	if (hook_on_event(c, &e->hook, e->time_ns))
		socks_claim(c);
	if (timed && !core_observes(c, MG_EVENT_stamp_send))
		timed_send_off(c);
}

ON(lost)
{
	loss_on_event(c, &e->lost);
}

ON(chunk)
{
	loss_on_chunk(c, &e->chunk);
	if (!c->rotated.first_part)
		c->rotated.first_part = e->chunk.number;
	c->rotated.part = e->chunk.number;
	c->rotated.part_ended = false;
}

ON(change)
{
	c->probes.listed = true; /* it may come before the first clock reading */
	if (strncmp(e->change.what, "state", sizeof(e->change.what)) == 0)
		c->trace.is_paused =
			strncmp(e->change.value, "paused", sizeof(e->change.value)) == 0;
}

ON(dump)
{
	dump_on_event(c, e);
}

ON(chunk_end)
{
	c->rotated.part_ended =
		e->chunk_end.number == c->rotated.part; /* or the next part has begun */
	c->rotated.part_ended_ns = e->time_ns;
}

ON(stack)
{
	stack_on_taken(c, e);
}

ON(symbol)
{
	stack_on_symbol(c, &e->symbol);
}

ON(stack_frame)
{
	stack_on_frame(c, &e->stack_frame);
}

ON(stacks)
{
	stack_on_end(c, &e->stacks);
}

ON(trace_end)
{
	c->trace.end = e->trace_end;
	c->trace.has_end = true;
}

ON(none)
{
}

/* ---- events of the program ---- */

static void on_app(struct core *c, const struct mg_event *e, struct annotation *a)
{
	struct thread *t;

	if (!MG_IS_APP(e->id))
		return;
	t = thread_get(c, MG_IS_CALL(e->id) ? e->call.tid : e->mark.tid,
		MG_IS_CALL(e->id) ? e->call.pid : e->mark.pid);
	if (t && MG_IS_CALL(e->id))
		call_on_app(c, t, e, a);
	else if (t)
		mark_on_event(c, t, e, a);
}

/* ---- all of them ---- */

/* Returns whether the event is one of the scheduler's, which have no socket. */
static bool is_of_scheduler(unsigned int id)
{
	switch (id) {
#define LAYER(id, name, NAME, layer, ...) \
	case id:                          \
		return MG_LAYER_##layer == MG_LAYER_SCHED || MG_LAYER_##layer == MG_LAYER_SWITCH;
		MG_SYSTEM_EVENTS(LAYER)
	default:
		return false;
	}
}

bool event_has_sock(unsigned int id)
{
	return id == MG_EVENT_stack_block || !is_of_scheduler(id);
}

/* Kinds of event, for to_part() and note_readying(). */
enum {
	/* a scheduler event, not caused by the thread in whose context it is recorded */
	OF_OTHERS = 1,
	OF_CALL = 2,   /* the beginning or end of a system call */
	OF_WAKEUP = 4, /* one of a wakeup's */
	OF_READY = 8,  /* a socket has something for its reader */
	AFRESH = 16,   /* what a CPU does from here on has to do with nothing before */
};
static const uint8_t kinds[MG_TRACER_BASE] = {
	[MG_EVENT_sched_switch] = OF_OTHERS | AFRESH,
	[MG_EVENT_sched_waking] = OF_OTHERS | OF_WAKEUP,
	[MG_EVENT_sched_wakeup] = OF_OTHERS | OF_WAKEUP,
	[MG_EVENT_sched_wakeup_new] = OF_OTHERS,
	[MG_EVENT_sched_migrate] = OF_OTHERS | OF_WAKEUP,
	[MG_EVENT_sched_cost] = OF_OTHERS,
	[MG_EVENT_sched_task] = OF_OTHERS,
	[MG_EVENT_stack_block] = OF_OTHERS,
	[MG_EVENT_sys_enter] = OF_CALL | AFRESH,
	[MG_EVENT_sys_exit] = OF_CALL,
	[MG_EVENT_tcp_ready] = OF_READY,
	[MG_EVENT_sock_ready] = OF_READY,
};

static struct mg_sock *sock_of_event(struct core *c, const struct mg_event *e)
{
	/* in every payload that has one, the cookie is the first field */
	if (!MG_IS_RING(e->id) || is_of_scheduler(e->id))
		return NULL;
	return sock_find(c, e->sys_enter.sock);
}

/*
 * Default direction of an event's bytes: whether its socket receives them; the handler may correct
 * it.
 */
#define IS_IN_IN  true
#define IS_IN_OUT false
#define IS_IN_ANY false

static inline __attribute__((always_inline)) void to_part(
	struct core *c, const struct mg_event *e, struct annotation *a)
{
	struct thread *t = NULL;

	if (MG_IS_RING(e->id) && e->tid && !(kinds[e->id] & OF_OTHERS)) {
		t = thread_get(c, e->tid, e->pid);
		if (!t)
			return;
		t->cpu = e->cpu;
		if (!(kinds[e->id] & OF_CALL))
			thread_on_event(c, t, e);
	}
	switch (e->id) {
#define HANDLE(id, name, NAME, layer, direction, stage, state, handler, ...) \
	case id:                                                             \
		a->rx = IS_IN_##direction;                                   \
		handle_##handler(c, t, e, a);                                \
		break;
		MG_KERNEL_EVENTS(HANDLE)
	case MG_EVENT_other:
		other_on_event(c, e);
		break;
	default:
		on_app(c, e, a);
	}
}

static void note_readying(struct core *c, const struct mg_event *e)
{
	struct readying *r;
	uint8_t kind;

	if (!MG_IS_RING(e->id) || (uint16_t)e->cpu >= CPUS_MAX) /* -1 is too large, too */
		return;
	kind = kinds[e->id];
	r = &c->readying[e->cpu];
	r->events = kind & AFRESH ? 1 : r->events + 1;
	if (kind & OF_WAKEUP)
		return;
	/* in every payload that has one, the cookie is the first field */
	r->sock = kind & OF_READY ? e->sys_enter.sock : 0;
	r->t = e->cycles;
}

void core_dispatch(struct core *c, const struct mg_event *e, struct annotation *a)
{
	note_readying(c, e);
	if (!c->probes.hook_count && !c->trace.has_calibration)
		hook_seen(c, e->id);
	to_part(c, e, a);
	if (c->listening.listener && !a->sock)
		a->sock = sock_of_event(c, e);
}
