/* SPDX-License-Identifier: MIT */
/* Order, clock and dispatch. */
#include "core.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event_table.h"

/* The tracer reads the clock ten times a second; if it is silent for so long, it has stopped. */
#define CLOCK_PATIENCE_NS 2000000000ull

void core_init(struct core *c)
{
	memset(c, 0, sizeof(*c));
}

void core_give_clock(struct core *c, uint64_t ns, uint64_t cycles, uint32_t half_width)
{
	clockmap_add(&c->clock, ns, cycles, half_width);
	c->clock_source = CLOCK_GIVEN;
}

void core_listen(struct core *c, listener_fn fn, void *arg)
{
	c->listener = fn;
	c->listener_arg = arg;
}

double core_clock_error(const struct core *c)
{
	return clockmap_error(&c->clock) + cpu_offsets_error(&c->offsets);
}

/* Which events can be expected: those whose hook was attached. */
static struct hook_info *hook_of(struct core *c, const struct mg_hook *p)
{
	struct hook_info h = {.netns = p->netns}, *more;
	const struct mg_event_desc *d;
	char name[33];

	memcpy(h.layer, p->layer, sizeof(h.layer) - 1);
	memcpy(h.what, p->hook, sizeof(h.what) - 1);
	/* each chunk tells them again, and they may be switched on and off */
	for (uint32_t i = 0; i < c->hook_count; i++)
		if (c->hooks[i].netns == h.netns && strcmp(c->hooks[i].what, h.what) == 0)
			return &c->hooks[i];
	more = realloc(c->hooks, (c->hook_count + 1) * sizeof(*more));
	if (!more)
		return NULL;
	memcpy(name, p->hook, 32);
	name[32] = 0;
	name[strcspn(name, " ")] = 0; /* "ip_out ipv4" */
	d = mg_event_by_name(name);
	if (d && MG_IS_RING(d->id))
		h.bit = 1ull << d->id;
	c->hooks = more;
	more[c->hook_count] = h;
	return &more[c->hook_count++];
}

static void on_hook(struct core *c, const struct mg_hook *p)
{
	struct hook_info *h = hook_of(c, p);

	if (!h)
		return;
	h->status = p->status;
	c->hooked = 0;
	for (uint32_t i = 0; i < c->hook_count; i++)
		if (c->hooks[i].status == 0)
			c->hooked |= c->hooks[i].bit;
	if (h->netns)
		c->hooked_ns |= h->bit;
}

bool core_observes(const struct core *c, enum mg_event_id id)
{
	return !c->hook_count || c->hooked & 1ull << id;
}

uint64_t core_hooked(const struct core *c, uint32_t netns)
{
	uint64_t bits = c->hooked & ~c->hooked_ns;

	if (!(c->hooked & c->hooked_ns))
		return bits;
	for (uint32_t i = 0; i < c->hook_count; i++)
		if (c->hooks[i].netns && c->hooks[i].netns == netns && c->hooks[i].status == 0)
			bits |= c->hooks[i].bit;
	return bits;
}

static void on_fork(struct core *c, const struct mg_event *e)
{
	struct thread *t = thread_get(c, e->task_fork.child_tid, e->task_fork.child_pid);

	if (!t)
		return;
	t->traced = true;
	memcpy(t->comm, e->task_fork.comm, sizeof(t->comm));
	t->comm[sizeof(t->comm) - 1] = 0;
}

static void on_exit_of(struct core *c, struct thread *t, bool leader)
{
	struct process *p = process_of(c, t);

	call_on_thread_end(c, t);
	if (!leader || !p)
		return;
	process_ends(c, p);
	p->comm[0] = 0; /* its id may be another's next */
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
		memcpy(p->comm, t->comm, sizeof(p->comm));
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

static void on_calibration(struct core *c, const struct mg_calibration *p)
{
	c->calibration = *p;
	c->has_calibration = true;
	if (c->clock.ns_only && p->counter_hz) {
		double ns = 1e9 / (double)p->counter_hz;

		c->calibration.read_cycles = (uint32_t)(p->read_cycles * ns + 0.5);
		c->calibration.event_cycles = (uint32_t)(p->event_cycles * ns + 0.5);
		c->calibration.event_spread = (uint32_t)(p->event_spread * ns + 0.5);
	}
}

static struct mg_sock *sock_of_event(const struct core *c, const struct mg_event *e)
{
	/* in every payload that has one, the cookie is the first field */
	if (!MG_IS_RING(e->id) || is_one_of(e, SCHED_EVENTS))
		return NULL;
	return sock_find(c, e->sys_enter.sock);
}

static void dispatch(struct core *c, const struct mg_event *e, struct annotation *a)
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
		if (e->packet.via) /* elsewhere: listed, but no layer of the socket's own */
			a->rx = e->packet.via == 2;
		else if (is_datagram(&e->packet))
			datagram_on_packet(c, e, a);
		else
			tx_on_packet(c, e, a);
		break;
	case MG_EVENT_dev_done:
		if (e->dev_done.via)
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
		a->rx = true;
		break;
	case MG_EVENT_dev_recv:
	case MG_EVENT_ip_in:
		if (e->packet.via)
			a->rx = e->packet.via == 2;
		else if (is_datagram(&e->packet))
			datagram_on_packet(c, e, a);
		else
			rx_on_packet(c, e, a);
		break;
	case MG_EVENT_sock_new:
		sock_on_new(c, e);
		break;
	case MG_EVENT_sock_sent:
	case MG_EVENT_sock_received:
		sock_on_moved(c, e, a);
		break;
	case MG_EVENT_drop:
		drop_on_event(c, e, a);
		break;
	case MG_EVENT_tcp_recv:
		rx_on_tcp(c, e, a);
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
	case MG_EVENT_sock_state:
		sock_on_state(c, e);
		break;
	case MG_EVENT_sock_addr:
		sock_on_addr(c, e);
		break;
	case MG_EVENT_sock_open:
		sock_on_open(c, e);
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
			on_exit_of(c, t, e->task_exit.leader);
		break;
	case MG_EVENT_lost:
		gap_on_lost(c, &e->lost);
		break;
	case MG_EVENT_chunk:
		gap_on_chunk(c, &e->chunk);
		c->part = e->chunk.number;
		c->part_ended = false;
		break;
	case MG_EVENT_chunk_end:
		c->part_ended = e->chunk_end.number == c->part; /* or the next has begun */
		break;
	case MG_EVENT_hook:
		on_hook(c, &e->hook);
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
	if (!MG_IS_RING(e->id) || e->cpu < 0 || e->cpu >= CPUS_MAX || is_one_of(e, OF_WAKING))
		return;
	c->readying[e->cpu].sock = e->id == MG_EVENT_tcp_ready ? e->tcp_ready.sock : 0;
	c->readying[e->cpu].t = e->cycles;
}

/* A reading of the counter by a thread, as of the CPU all are compared with. */
static uint64_t own_reading(struct core *c, uint32_t tid, uint64_t counter)
{
	const struct thread *t = NULL;

	if (c->offsets.known)
		HASH_FIND(hh, c->threads, &tid, sizeof(tid), t);
	if (t)
		counter -= (uint64_t)cpu_offsets_correction(&c->offsets, t->cpu);
	return clockmap_counter(&c->clock, counter);
}

/* All times to the counter of one CPU, or to nanoseconds. */
static void set_times(struct core *c, struct mg_event *e)
{
	e->cycles = clockmap_cycles(&c->clock, e->time_ns);
	if (MG_IS_RING(e->id))
		e->cycles -= (uint64_t)cpu_offsets_correction(&c->offsets, e->cpu);
	if (MG_IS_CALL(e->id)) {
		e->call.enter = own_reading(c, e->call.tid, e->call.enter);
		e->call.exit = own_reading(c, e->call.tid, e->call.exit);
		if (c->clock.ns_only && c->calibration.counter_hz)
			e->call.logged = (uint32_t)((double)e->call.logged * 1e9 /
						    (double)c->calibration.counter_hz);
	} else if (e->id == MG_EVENT_mark) {
		e->mark.at = own_reading(c, e->mark.tid, e->mark.at);
	}
}

static void process(struct core *c, struct mg_event *e)
{
	struct annotation a = {0};

	set_times(c, e);
	a.cycles = c->clock.ns_only ? 0 : e->cycles;
	if (MG_IS_APP(e->id))
		c->app_events++;
	else if (MG_IS_RING(e->id) || e->id == MG_EVENT_other)
		c->kernel_events++;
	if (!MG_IS_APP(e->id) && e->id != MG_EVENT_lost)
		c->kernel_until_ns = e->time_ns;
	note_readying(c, e);
	dispatch(c, e, &a);
	if (!a.sock)
		a.sock = sock_of_event(c, e);
	if (c->listener)
		c->listener(c->listener_arg, e, &a);
	if (e->id == MG_EVENT_other)
		free(e->other.text);
}

/* Without any reading of the clock: its rate by the program's events, which carry both. */
static void estimate_clock(struct core *c)
{
	const struct mg_event *first = NULL, *last = NULL;

	for (uint32_t i = 0; i < c->pending_n; i++) {
		const struct mg_event *e =
			&c->pending[(c->pending_head + i) & (c->pending_cap - 1)];

		if (!MG_IS_CALL(e->id))
			continue;
		if (!first)
			first = e;
		last = e;
	}
	if (first && last->call.exit > first->call.exit && last->time_ns > first->time_ns) {
		clockmap_add(&c->clock, first->time_ns, first->call.exit, 0);
		clockmap_add(&c->clock, last->time_ns, last->call.exit, 0);
		c->clock_source = CLOCK_GUESSED;
	}
}

static void release(struct core *c, bool all)
{
	while (c->pending_n) {
		struct mg_event *e = &c->pending[c->pending_head];
		bool due = clockmap_valid(&c->clock) && e->time_ns <= clockmap_until(&c->clock);

		if (!due && !all && c->last_ns - e->time_ns < CLOCK_PATIENCE_NS)
			return;
		if (!clockmap_valid(&c->clock))
			estimate_clock(c);
		process(c, e);
		c->pending_head = (c->pending_head + 1) & (c->pending_cap - 1);
		c->pending_n--;
	}
}

static int enqueue(struct core *c, const struct mg_event *e)
{
	if (c->pending_n == c->pending_cap) {
		uint32_t cap = c->pending_cap ? c->pending_cap * 2 : 1024;
		struct mg_event *p = malloc(cap * sizeof(*p));

		if (!p)
			return -ENOMEM;
		for (uint32_t i = 0; i < c->pending_n; i++)
			p[i] = c->pending[(c->pending_head + i) & (c->pending_cap - 1)];
		free(c->pending);
		c->pending = p;
		c->pending_head = 0;
		c->pending_cap = cap;
	}
	c->pending[(c->pending_head + c->pending_n++) & (c->pending_cap - 1)] = *e;
	return 0;
}

int core_push(struct core *c, const struct mg_event *e)
{
	int err;

	if (!c->first_ns)
		c->first_ns = e->time_ns;
	if (e->time_ns > c->last_ns)
		c->last_ns = e->time_ns;
	if (e->id == MG_EVENT_clock_sync) {
		clockmap_add(&c->clock, e->clock_sync.mono_ns, e->clock_sync.cycles,
			e->clock_sync.half_width);
		c->clock_source = CLOCK_SYNC; /* the trace has its own */
	}
	/* told early, and events wait for the clock: it is known before the first is processed */
	if (e->id == MG_EVENT_calibration && !e->calibration.invariant)
		c->clock.ns_only = true;
	if (e->id == MG_EVENT_clock_cpus && e->clock_cpus.cpu != e->clock_cpus.ref)
		cpu_offsets_add(&c->offsets, e->clock_cpus.cpu, e->clock_cpus.offset_low,
			e->clock_cpus.offset_high);
	err = enqueue(c, e);
	if (err) {
		if (e->id == MG_EVENT_other)
			free(e->other.text);
		return err;
	}
	release(c, c->clock_source == CLOCK_GIVEN);
	return 0;
}

int core_finish(struct core *c)
{
	struct thread *t, *tmp;
	struct mg_sock *s, *stmp;

	release(c, true);
	HASH_ITER (hh, c->threads, t, tmp) {
		call_on_thread_end(c, t);
	}
	processes_end(c);
	HASH_ITER (hh, c->socks, s, stmp) {
		state_end(s, clockmap_cycles(&c->clock, c->last_ns));
		s->tx.open_calls = 0;
		if (s->kind == MG_KIND_tcp)
			tx_make_atoms(c, &s->tx, true);
		else
			datagram_finish(s);
	}
	return 0;
}

void core_free(struct core *c)
{
	struct thread *t, *ttmp;
	struct mg_sock *s, *stmp;
	struct call_stats *k, *ktmp;

	HASH_ITER (hh, c->threads, t, ttmp) {
		HASH_DEL(c->threads, t);
		kernel_call_free(&t->now);
		kernel_call_free(&t->told);
		for (uint32_t i = 0; i < t->ended_n; i++)
			kernel_call_free(&t->ended[i]);
		free(t->ended);
		free(t);
	}
	processes_free(c);
	drops_free(c);
	free(c->marks);
	HASH_CLEAR(hh_alone, c->alone);
	HASH_ITER (hh, c->socks, s, stmp) {
		HASH_DEL(c->socks, s);
		flow_free(&s->tx);
		flow_free(&s->rx);
		free(s->tcp);
		free(s);
	}
	HASH_ITER (hh, c->calls, k, ktmp) {
		HASH_DEL(c->calls, k);
		dist_free(&k->total);
		dist_free(&k->overhead);
		dist_free(&k->overhead_blocked);
		free(k);
	}
	sched_free(&c->sched);
	dist_free(&c->logged);
	clockmap_free(&c->clock);
	cpu_offsets_free(&c->offsets);
	other_free(c);
	for (uint32_t i = 0; i < c->pending_n; i++) {
		struct mg_event *e = &c->pending[(c->pending_head + i) & (c->pending_cap - 1)];

		if (e->id == MG_EVENT_other)
			free(e->other.text);
	}
	free(c->gaps);
	free(c->hooks);
	free(c->pending);
	memset(c, 0, sizeof(*c));
}
