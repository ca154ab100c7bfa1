/* SPDX-License-Identifier: MIT */
/* Each event to the part it concerns. */
#include "trace/dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "core.h"
#include "event_table.h"
#include "message/datagram.h"
#include "socket/anchor.h"
#include "socket/drops.h"
#include "socket/socket.h"
#include "socket/state.h"
#include "stream/rx.h"
#include "stream/tx.h"
#include "stream/why.h"
#include "stream/zerocopy.h"
#include "task/call.h"
#include "task/call_join.h"
#include "task/call_settle.h"
#include "task/mark.h"
#include "task/process.h"
#include "task/sched.h"
#include "task/thread.h"
#include "task/threads.h"
#include "trace/gap.h"
#include "trace/hook.h"
#include "trace/other.h"

static void on_fork(struct core *c, const struct mg_event *e)
{
	struct thread *t = thread_get(c, e->task_fork.child_tid, e->task_fork.child_pid);

	if (!t)
		return;
	if (t->has_ended) /* it had the same id */
		call_on_thread_end(c, t);
	t->has_ended = false;
	/* the first thread may be told of by another one, as that is met */
	if (e->task_fork.child_tid != e->pid || e->task_fork.child_tid == e->tid)
		t->traced = true;
	memcpy(t->comm, e->task_fork.comm, sizeof(t->comm));
	t->comm[sizeof(t->comm) - 1] = 0;
	process_on_fork(c, t, e);
}

static void on_exit_of(struct core *c, struct thread *t, bool leader, uint64_t now_ns)
{
	struct process *p = process_of(c, t);

	call_on_thread_exit(c, t);
	if (leader && p)
		process_on_exit(c, p, now_ns);
}

static void on_exec(struct core *c, const struct mg_event *e)
{
	struct thread *t = thread_get(c, e->tid, e->pid);
	struct process *p;

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

/* Ring events of the scheduler: of no socket. */
#define IF_SCHED(id, name, NAME, layer, doc)                                                    \
	| (uint64_t)(MG_LAYER_##layer == MG_LAYER_SCHED || MG_LAYER_##layer == MG_LAYER_SWITCH) \
			<< (id)
#define SCHED_EVENTS (0 MG_RING_EVENTS(IF_SCHED))

/* Of these, the ones that are not the doing of the thread they are recorded in. */
#define BIT(name) (1ull << MG_EVENT_##name)
#define OF_OTHERS                                                                            \
	(BIT(sched_switch) | BIT(sched_waking) | BIT(sched_wakeup) | BIT(sched_wakeup_new) | \
		BIT(sched_migrate) | BIT(sched_cost) | BIT(sched_task))
/* A waking is made of these. */
#define OF_WAKING (BIT(sched_waking) | BIT(sched_wakeup) | BIT(sched_migrate))

static bool is_one_of(const struct mg_event *e, uint64_t set)
{
	return MG_IS_RING(e->id) && set >> e->id & 1;
}

static uint32_t rescaled(uint32_t cycles, double ns)
{
	double v = cycles * ns + 0.5;

	return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

static void on_calibration(struct core *c, const struct mg_calibration *p)
{
	c->calibration = *p;
	c->has_calibration = true;
	if (c->clock.ns_only && p->counter_hz) {
		double ns = 1e9 / (double)p->counter_hz;

		c->calibration.read_cycles = rescaled(p->read_cycles, ns);
		c->calibration.event_cycles = rescaled(p->event_cycles, ns);
		c->calibration.event_spread = rescaled(p->event_spread, ns);
		c->calibration.event_scatter = rescaled(p->event_scatter, ns);
		c->calibration.system_cycles = rescaled(p->system_cycles, ns);
	}
}

static struct mg_sock *sock_of_event(struct core *c, const struct mg_event *e)
{
	/* in every payload that has one, the cookie is the first field */
	if (!MG_IS_RING(e->id) || is_one_of(e, SCHED_EVENTS))
		return NULL;
	return sock_find(c, e->sys_enter.sock);
}

static void to_part(struct core *c, const struct mg_event *e, struct annotation *a)
{
	struct thread *t = NULL;

	if (MG_IS_RING(e->id) && e->tid && !is_one_of(e, OF_OTHERS)) {
		t = thread_get(c, e->tid, e->pid);
		if (!t)
			return;
		t->cpu = e->cpu;
		if (e->id != MG_EVENT_sys_enter && e->id != MG_EVENT_sys_exit)
			thread_on_event(c, t, e);
	}
	switch (e->id) {
	case MG_EVENT_sys_enter:
		if (t)
			call_on_enter(c, t, e);
		a->rx = mg_syscall_direction(e->sys_enter.call) == MG_DIR_RX;
		break;
	case MG_EVENT_sys_exit:
		a->rx = mg_syscall_direction(e->sys_exit.call) == MG_DIR_RX;
		if (t)
			call_on_exit(c, t, e);
		break;
	case MG_EVENT_tcp_send:
		if (t)
			tx_on_send(c, t, e, a);
		break;
	case MG_EVENT_ip_out:
	case MG_EVENT_ip_post:
	case MG_EVENT_dev_queue:
	case MG_EVENT_dev_xmit:
		if (!tx_is_own(c, e)) /* elsewhere: listed, but no layer of the socket's own */
			a->rx = e->packet.via == 2;
		else if (is_datagram(&e->packet))
			datagram_on_packet(c, t, e, a);
		else
			tx_on_packet(c, t, e, a);
		break;
	case MG_EVENT_dev_done:
		if (!tx_is_own(c, e))
			a->rx = e->dev_done.via == 2;
		else
			tx_on_done(c, e, a);
		break;
	case MG_EVENT_ip_forward:
		a->rx = e->packet.via == 2;
		break;
	case MG_EVENT_dev_gro:
	case MG_EVENT_ip_recv:
	case MG_EVENT_nf_pre_end:
	case MG_EVENT_nf_in_begin: /* listed only */
		a->rx = e->packet.via != 1;
		break;
	case MG_EVENT_sock_ready:
		datagram_on_ready(c, t, e, a);
		break;
	case MG_EVENT_dev_recv:
	case MG_EVENT_ip_in:
		if (e->packet.via)
			a->rx = e->packet.via == 2;
		else if (is_datagram(&e->packet))
			datagram_on_packet(c, t, e, a);
		else
			rx_on_packet(c, t, e, a);
		break;
	case MG_EVENT_sock_new:
		sock_on_new(c, e);
		break;
	case MG_EVENT_sock_peer:
		sock_on_peer(c, e, a);
		break;
	case MG_EVENT_tcp_listen:
		c->listen_drops += e->tcp_listen.drops;
		break;
	case MG_EVENT_sock_sent:
	case MG_EVENT_sock_received:
		sock_on_moved(c, t, e, a);
		break;
	case MG_EVENT_drop:
		drop_on_event(c, t, e, a);
		break;
	case MG_EVENT_tcp_recv:
		rx_on_tcp(c, t, e, a);
		break;
	case MG_EVENT_tcp_ready:
		rx_on_ready(c, e, a);
		break;
	case MG_EVENT_sock_copy:
		if (t)
			rx_on_copy(c, t, e, a);
		break;
	case MG_EVENT_tcp_retransmit:
		tx_on_retransmit(c, e, a);
		break;
	case MG_EVENT_zerocopy_sent:
		zerocopy_on_sent(c, e);
		break;
	case MG_EVENT_zerocopy_done:
		zerocopy_on_done(c, e);
		break;
	case MG_EVENT_sock_state:
		sock_on_state(c, e);
		break;
	case MG_EVENT_sock_addr:
		sock_on_addr(c, e);
		break;
	case MG_EVENT_sock_open:
		sock_on_open(c, e);
		break;
	case MG_EVENT_tcp_room:
		why_on_room(c, &e->tcp_room);
		break;
	case MG_EVENT_tcp_state:
	case MG_EVENT_tcp_more:
	case MG_EVENT_tcp_limits:
	case MG_EVENT_tcp_algorithm:
	case MG_EVENT_tcp_cong:
	case MG_EVENT_tcp_timeout:
	case MG_EVENT_tcp_window:
	case MG_EVENT_tcp_reset:
		state_on_event(c, e, a);
		break;
	case MG_EVENT_ip_header:
		a->rx = !e->ip_header.sent;
		break;
	case MG_EVENT_sched_switch:
		thread_on_switch(c, e);
		break;
	case MG_EVENT_sched_waking:
		thread_on_waking(c, e);
		break;
	case MG_EVENT_sched_wakeup:
		thread_on_wakeup(c, e);
		break;
	case MG_EVENT_sched_cost:
		sched_on_cost(&c->sched, e);
		break;
	case MG_EVENT_task_fork:
		on_fork(c, e);
		break;
	case MG_EVENT_task_exec:
		on_exec(c, e);
		break;
	case MG_EVENT_task_exit:
		if (t)
			on_exit_of(c, t, e->task_exit.leader, e->time_ns);
		break;
	case MG_EVENT_lost:
		gap_on_lost(c, &e->lost);
		break;
	case MG_EVENT_chunk:
		gap_on_chunk(c, &e->chunk);
		if (!c->first_part)
			c->first_part = e->chunk.number;
		c->part = e->chunk.number;
		c->part_ended = false;
		break;
	case MG_EVENT_chunk_end:
		c->part_ended = e->chunk_end.number == c->part; /* or the next has begun */
		c->part_ended_ns = e->time_ns;
		break;
	case MG_EVENT_hook:
		hook_on_event(c, &e->hook);
		break;
	case MG_EVENT_clock_sync: /* comes ten times a second */
		call_settle_old(c, e->time_ns);
		break;
	case MG_EVENT_calibration:
		on_calibration(c, &e->calibration);
		break;
	case MG_EVENT_other:
		other_on_event(c, e);
		break;
	case MG_EVENT_trace_end:
		c->end = e->trace_end;
		c->has_end = true;
		break;
	default:
		if (!MG_IS_APP(e->id))
			break;
		t = thread_get(c, MG_IS_CALL(e->id) ? e->call.tid : e->mark.tid,
			MG_IS_CALL(e->id) ? e->call.pid : e->mark.pid);
		if (t && MG_IS_CALL(e->id))
			call_on_app(c, t, e, a);
		else if (t)
			mark_on_event(c, t, e, a);
	}
}

static void note_readying(struct core *c, const struct mg_event *e)
{
	struct readying *r;

	if (!MG_IS_RING(e->id) || e->cpu < 0 || e->cpu >= CPUS_MAX)
		return;
	r = &c->readying[e->cpu];
	if (is_one_of(e, BIT(sys_enter) | BIT(sched_switch)))
		r->events = 0;
	r->events++;
	if (is_one_of(e, OF_WAKING))
		return;
	r->sock = e->id == MG_EVENT_tcp_ready    ? e->tcp_ready.sock
		  : e->id == MG_EVENT_sock_ready ? e->sock_ready.sock
						 : 0;
	r->t = e->cycles;
}

void core_dispatch(struct core *c, const struct mg_event *e, struct annotation *a)
{
	note_readying(c, e);
	hook_seen(c, e->id);
	to_part(c, e, a);
	if (!a->sock)
		a->sock = sock_of_event(c, e);
}
