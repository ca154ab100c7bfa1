/* SPDX-License-Identifier: MIT */
/* Puts events on one time axis and passes them on in order. */

#include "core.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "event_table.h"
#include "call/call_settle.h"
#include "call/mark.h"
#include "clock/clock_guess.h"
#include "clock/clockmap.h"
#include "clock/queue.h"
#include "coverage/gap.h"
#include "exchange/exchange.h"
#include "message/datagram.h"
#include "socket/connect.h"
#include "socket/flow_fact.h"
#include "socket/socket.h"
#include "stream/ack.h"
#include "stream/request.h"
#include "stream/rx_call.h"
#include "stream/timed_send.h"
#include "stream/tx_range.h"
#include "stream/unsent.h"
#include "task/process.h"
#include "task/thread.h"
#include "task/threads.h"
#include "trace/dispatch.h"
#include "trace/loss.h"
#include "trace/reconnect.h"
#include "trace/recording.h"
#include "trace/sides.h"

/* The tracer reads the clock ten times a second; after a silence of this length it has stopped. */
#define CLOCK_PATIENCE_NS 2000000000ull

void core_init(struct core *c)
{
	memset(c, 0, sizeof(*c));
	c->refused = mg_memory_failures();
}

struct core *core_new(void)
{
	struct core *c = mg_malloc(sizeof(*c));

	if (c)
		core_init(c);
	return c;
}

void core_delete(struct core *c)
{
	if (c)
		core_free(c);
	free(c);
}

struct facts *core_facts(struct core *c)
{
	return &c->facts;
}

listener_fn core_listener(const struct core *c)
{
	return c->listening.listener;
}

void *core_attached(const struct core *c)
{
	return c->attached.what;
}

bool *core_due(struct core *c)
{
	return &c->attached.due;
}

bool core_lacks_memory(const struct core *c)
{
	return mg_memory_failures() != c->refused;
}

void core_give_clock(struct core *c, uint64_t ns, uint64_t cycles, uint32_t half_width)
{
	clockmap_add(&c->clock, ns, cycles, half_width);
	c->due.clock_source = CLOCK_GIVEN;
}

void core_listen(struct core *c, listener_fn fn, void *arg)
{
	c->listening.listener = fn;
	c->listening.listener_arg = arg;
}

/* Keeps what hardly any event needs out of the way of the others. */
#define RARE __attribute__((noinline, cold))

/* Returns a thread's counter reading corrected to the CPU that all CPUs are compared with. */
static uint64_t own_reading(struct core *c, uint32_t tid, uint64_t counter)
{
	const struct thread *t = c->offsets.certain ? thread_find(c, tid) : NULL;

	if (t)
		counter -= (uint64_t)cpu_offsets_correction(&c->offsets, t->cpu);
	return clockmap_counter(&c->clock, counter);
}

/* Converts all times of an event that is no hook's to the counter of one CPU, or to nanoseconds. */
static void set_times(struct core *c, struct mg_event *e)
{
	e->cycles = clockmap_cycles(&c->clock, e->time_ns);
	if (MG_IS_CALL(e->id)) {
		e->call.enter = own_reading(c, e->call.tid, e->call.enter);
		e->call.exit = own_reading(c, e->call.tid, e->call.exit);
		if (c->clock.ns_only && c->trace.calibration.counter_hz) {
			double ns = (double)e->call.logged * 1e9 /
				    (double)c->trace.calibration.counter_hz;

			e->call.logged = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
		}
	} else if (e->id == MG_EVENT_mark) {
		e->mark.at = own_reading(c, e->mark.tid, e->mark.at);
	}
}

/* Turns a late report about a device into the event that it stands for. */
static RARE void set_back(struct mg_event *e)
{
	const struct mg_dev_recv_late late = e->dev_recv_late;

	e->id = MG_EVENT_dev_recv;
	e->time_ns -= late.ago_ns;
	e->packet = (struct mg_packet){
		.sock = late.sock,
		.seq = late.seq,
		.len = late.len,
		.ifindex = late.ifindex,
		.headers = late.headers,
		.segs = late.segs,
		.gso_size = late.gso_size,
		.ip_id = late.ip_id,
		.frag = late.frag,
		.icmp_type = late.icmp_type,
		.proto = late.proto,
	};
}

/* Counts an event for its side, and notes until when that was recorded. */
static void count(struct core *c, const struct mg_event *e)
{
	if (MG_IS_APP(e->id))
		c->counts.app_events++;
	else if (MG_IS_RING(e->id) || e->id == MG_EVENT_other)
		c->counts.kernel_events++;
	else
		c->counts.tracer_events++;
	if (e->id == MG_EVENT_app_begin || e->id == MG_EVENT_app_end ||
		e->id == MG_EVENT_app_until || (e->id == MG_EVENT_contents && !e->contents.side) ||
		(e->id == MG_EVENT_lost && gap_is_app(e->lost.reason)))
		c->counts.app_notes++;
	else if (!MG_IS_APP(e->id) && e->id != MG_EVENT_lost)
		c->times.kernel_until_ns = e->time_ns;
	side_on_event(c, e);
}

/* Does the same for an event of a hook, which nearly all events are. */
static void count_hook(struct core *c, const struct mg_event *e)
{
	struct core_span *s = &c->side[CORE_KERNEL];

	c->counts.kernel_events++;
	c->times.kernel_until_ns = e->time_ns;
	if (e->time_ns > s->until_ns)
		s->until_ns = e->time_ns;
}

static void between(void *core)
{
	struct core *c = core;

	c->attached.due = false;
	c->attached.does.between(c->attached.what, c);
}

void core_listen_apart(struct core *c)
{
	c->apart = facts_apart_begin(&c->facts,
		&(struct facts_due){.flag = &c->attached.due, .between = between, .arg = c},
		c->attached.does.ended);
}

bool core_is_apart(const struct core *c)
{
	return c->apart;
}

bool core_leave(struct core *c, struct errand *e)
{
	return c->apart && facts_apart_leave(c->apart, e);
}

bool core_done(struct core *c, struct errand *e)
{
	return c->apart ? facts_apart_done(c->apart, e) : e->is_done;
}

void core_end_apart(struct core *c)
{
	if (c->apart)
		facts_apart_end(c->apart);
	c->apart = NULL;
}

/* Gives an event whose times are set to the part of the core that it concerns, and to listeners. */
static inline __attribute__((always_inline)) void pass(struct core *c, struct mg_event *e)
{
	struct annotation a = {.cycles = c->clock.ns_only ? 0 : e->cycles};

	core_dispatch(c, e, &a);
	if (c->apart)
		facts_apart_event(c->apart);
	else if (c->attached.due)
		between(c);
	if (c->listening.listener)
		c->listening.listener(c->listening.listener_arg, e, &a);
	if (e->id == MG_EVENT_other)
		free(e->other.text);
	if (c->sockets.closed.due >= CLOSED_AT_ONCE)
		closed_pack(c);
}

static void process_hook(struct core *c, struct mg_event *e)
{
	if (e->id == MG_EVENT_dev_recv_late)
		set_back(e);
	e->cycles = clockmap_cycles(&c->clock, e->time_ns) -
		    (uint64_t)cpu_offsets_correction(&c->offsets, e->cpu);
	count_hook(c, e);
	if (reconnect_concerns(c, e))
		reconnect_on_event(c, e);
	pass(c, e);
}

static void process_other(struct core *c, struct mg_event *e)
{
	if (gap_is_of_reader(e)) { /* not in the trace */
		loss_on_event(c, &e->lost);
		return;
	}
	set_times(c, e);
	count(c, e);
	pass(c, e);
}

/*
 * Returns whether the clock may be estimated from calls. Repeated from time to time, as events
 * after the last reading use the rate before it.
 */
static bool may_guess(struct core *c)
{
	if (clockmap_valid(&c->clock) &&
		(c->due.clock_source != CLOCK_GUESSED || c->times.last_ns < c->due.guess_again_ns))
		return false;
	c->due.guess_again_ns = c->times.last_ns + CLOCK_PATIENCE_NS / 2;
	return true;
}

/*
 * Returns whether an event beyond the last reading of the clock is processed all the same; if not,
 * notes how long it waits.
 */
static RARE bool waits_no_longer(struct core *c, const struct mg_event *e, bool all)
{
	/* with another tracer's events only the program's calls need another clock */
	if (c->trace.kernel_tracer[0] && !c->due.pending_calls)
		return true;
	if (!all && c->times.last_ns - e->time_ns < CLOCK_PATIENCE_NS) {
		c->due.wait_ns = e->time_ns + CLOCK_PATIENCE_NS;
		return false;
	}
	if (c->due.pending_calls && may_guess(c))
		clock_guess(c);
	return true;
}

static void release(struct core *c, bool all)
{
	struct mg_event *e;

	while ((e = queue_first(&c->due.pending))) {
		if (!clockmap_has(&c->clock, e->time_ns) && !waits_no_longer(c, e, all))
			return;
		if (MG_IS_RING(e->id)) {
			process_hook(c, e);
		} else {
			c->due.pending_calls -= MG_IS_CALL(e->id);
			process_other(c, e);
		}
		queue_drop_first(&c->due.pending, e);
	}
}

/*
 * Uses an event as soon as it is read, before earlier events are processed, where that helps them.
 */
static RARE void foresee(struct core *c, const struct mg_event *e)
{
	switch (e->id) {
	case MG_EVENT_clock_sync:
		clockmap_add(&c->clock, e->clock_sync.mono_ns, e->clock_sync.cycles,
			e->clock_sync.half_width);
		c->due.clock_source = CLOCK_SYNC; /* the trace has its own */
		c->due.wait_ns = 0;
		break;
	case MG_EVENT_calibration:
		if (!e->calibration.invariant)
			clockmap_use_ns(&c->clock);
		break;
	case MG_EVENT_clock_cpus:
		if (e->clock_cpus.cpu != e->clock_cpus.ref)
			cpu_offsets_add(&c->offsets, e->clock_cpus.cpu, e->clock_cpus.offset_low,
				e->clock_cpus.offset_high);
		break;
	case MG_EVENT_lost:
		loss_foresee(c, &e->lost);
		break;
	default:
		break;
	}
}

struct mg_event *core_room(struct core *c)
{
	return queue_room(&c->due.pending);
}

/* Puts an event that may be the first, or may let others go. */
static RARE void put_any(struct core *c, struct mg_event *e)
{
	if (!c->times.first_ns)
		c->times.first_ns = e->time_ns;
	if (e->time_ns > c->times.last_ns)
		c->times.last_ns = e->time_ns;
	if (!MG_IS_RING(e->id)) {
		c->due.pending_calls += MG_IS_CALL(e->id);
		foresee(c, e);
	}
	if (queue_is_empty(&c->due.pending) || c->trace.kernel_tracer[0] ||
		c->due.clock_source == CLOCK_GIVEN)
		c->due.wait_ns = 0;
	queue_put(&c->due.pending, e);
	if (c->times.last_ns >= c->due.wait_ns)
		release(c, c->due.clock_source == CLOCK_GIVEN);
}

void core_put(struct core *c)
{
	struct mg_event *e = queue_written(&c->due.pending);

	/* others wait for the clock already, or there would be no time until when */
	if (MG_IS_RING(e->id) && e->time_ns >= c->times.last_ns && e->time_ns < c->due.wait_ns &&
		!queue_is_empty(&c->due.pending) && !c->trace.kernel_tracer[0]) {
		c->times.last_ns = e->time_ns;
		queue_put(&c->due.pending, e);
		return;
	}
	put_any(c, e);
}

void core_flush(struct core *c)
{
	release(c, true);
}

int core_push(struct core *c, const struct mg_event *e)
{
	struct mg_event *room = core_room(c);

	if (!room) {
		if (e->id == MG_EVENT_other)
			free(e->other.text);
		return -ENOMEM;
	}
	memcpy(room, e, queue_size_of(e));
	core_put(c);
	return 0;
}

/*
 * Makes an event for the gap, as the trace has none: earlier events may still wait for the clock.
 */
void core_missing_packets(struct core *c, enum core_side which, uint64_t count, uint64_t from_ns,
	uint64_t to_ns, int cpu)
{
	struct mg_event *e = core_room(c);

	if (!e)
		return;
	memset(e, 0, queue_size_of(&(struct mg_event){.id = MG_EVENT_lost}));
	e->id = MG_EVENT_lost;
	e->time_ns = from_ns;
	e->cpu = (int16_t)cpu;
	e->lost = (struct mg_lost){.count = count,
		.from_ns = from_ns,
		.to_ns = to_ns,
		.cpu = cpu,
		.reason = which == CORE_APP ? MG_LOST_APP_NOT_HERE : MG_LOST_NOT_HERE};
	snprintf(e->lost.producer, sizeof(e->lost.producer), "%s",
		count == 1 ? "packet" : "packets");
	core_put(c);
}

/*
 * Counts as incomplete every byte that left and lacks a timestamp, even if no call or
 * acknowledgement of it was seen. Bytes that were followed have passed.
 */
static void count_incomplete(struct flow *f)
{
	uint64_t of = f->total - f->start, not_theirs = f->urgent.discarded + f->never_sent.bytes;

	if (f->sock->unclaimed || f->sock->ulp)
		return;
	if (of < f->complete + not_theirs)
		of = f->complete + not_theirs;
	f->total = f->start + of;
	f->incomplete = of - not_theirs - f->complete;
}

static void finish_sock(struct core *c, struct mg_sock *s)
{
	sock_ends(c, s, clockmap_cycles(&c->clock, c->finish.last_ns));
	s->tx.use.open = 0;
	if (s->kind == MG_KIND_tcp) {
		timed_send_end(c, s);
		connect_finish(c, s, clockmap_cycles(&c->clock, c->finish.last_ns));
		acks_finish(c, s);
		tx_settle_ranges(c, &s->tx, true);
		flow_closed(c, &s->tx);
		tx_find_unsent(c, &s->tx);
		rx_finish(c, &s->rx);
		count_incomplete(&s->tx);
		count_incomplete(&s->rx);
	} else {
		datagram_finish(c, s);
	}
}

int core_finish(struct core *c)
{
	struct thread *t, *tmp;
	struct mg_sock *s, *stmp;
	uint64_t now;

	if (c->sockets.closed.finish)
		return core_lacks_memory(c) ? -ENOMEM : 0;
	c->due.guess_again_ns = 0;
	release(c, true);
	core_end_apart(c);
	HASH_ITER (hh, c->tasks.threads, t, tmp) {
		if (!t->has_ended)
			thread_wait_lost(c, t);
		call_on_thread_end(c, t);
	}
	processes_end(c);
	requests_finish(c);
	c->finish.last_ns = c->times.last_ns;
	c->finish.gaps = c->losses.gap_count;
	HASH_ITER (hh, c->sockets.socks, s, stmp) {
		finish_sock(c, s);
	}
	now = clockmap_cycles(&c->clock, c->times.last_ns);
	HASH_ITER (hh, c->sockets.socks, s, stmp) {
		exchange_end(c, s, now);
	}
	c->sockets.closed.finish = finish_sock;
	sides_finish(c);
	marks_finish(c);
	flows_tell(c);
	recording_tell(c);
	if (c->attached.what)
		c->attached.does.finish(c->attached.what);
	return core_lacks_memory(c) ? -ENOMEM : 0;
}

void core_attach(struct core *c, void *what, const struct core_client *does)
{
	c->attached.what = what;
	c->attached.does = *does;
}
