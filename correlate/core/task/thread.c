/* SPDX-License-Identifier: MIT */
/* Tracks the state of each thread at every instant, into which a call's time divides. */
#include "task/thread.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "core.h"
#include "event_table.h"
#include "clock/clockmap.h"
#include "coverage/gap.h"
#include "task/blocked.h"
#include "task/holders.h"
#include "task/past.h"
#include "task/process.h"
#include "task/repeated.h"
#include "task/threads.h"

struct thread *thread_find(const struct core *c, uint32_t tid)
{
	struct thread *t = NULL;

	HASH_FIND(hh, c->tasks.threads, &tid, sizeof(tid), t);
	return t;
}

struct thread *thread_make(struct core *c, uint32_t tid, uint32_t pid)
{
	struct thread **recent = &c->recent.thread[tid % RECENT_THREADS];
	struct thread *t = thread_find(c, tid);

	if (t) {
		if (pid)
			t->pid = pid;
		return *recent = t;
	}
	t = mg_calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->tid = tid;
	t->pid = pid;
	t->away.cpu = -1;
	t->cpu = -1;
	if (!holders_add(c, t)) {
		free(t);
		return NULL;
	}
	HASH_ADD(hh, c->tasks.threads, tid, sizeof(t->tid), t);
	return hash_kept(t);
}

enum call_state thread_state(const struct thread *t)
{
	if (t->away.now)
		return t->away.state;
	if (t->in_irq)
		return STATE_IRQ;
	if (t->in_softirq)
		return STATE_SOFTIRQ;
	return t->in_call ? t->fn : STATE_ENTRY;
}

/* Ends the present state; call it before the state changes. */
void thread_set_state(struct thread *t, uint64_t now)
{
	if (t->in_call && now > t->since)
		t->now.state[thread_state(t)] += now - t->since;
	t->since = now;
}

/*
 * Records a change outside system calls: where the application call began is known only at its end.
 */
static void mark(struct thread *t, uint64_t now)
{
	if (t->in_call)
		return;
	if (t->user.n == USER_MARKS) {
		memmove(t->user.marks, t->user.marks + USER_MARKS / 2, sizeof(t->user.marks) / 2);
		t->user.n = USER_MARKS / 2;
	}
	if (!t->user.n)
		t->user.in_order = true;
	else if (now < t->user.marks[t->user.n - 1].t)
		t->user.in_order = false; /* two CPUs' clocks may differ by less than the bound */
	t->user.marks[t->user.n++] = (struct user_mark){now, (uint8_t)thread_state(t)};
}

/* Returns the first mark after that time, which is nearly always one of the last. */
#define LAST_MARKS 8
static uint32_t first_after(const struct thread *t, uint64_t time)
{
	uint32_t lo = 0, hi = t->user.n;

	if (!t->user.in_order)
		return 0;
	for (int i = 0; i < LAST_MARKS; i++, hi--)
		if (!hi || t->user.marks[hi - 1].t <= time)
			return hi;
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (t->user.marks[mid].t > time)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

void thread_note_inner(struct thread *t, uint64_t enter, uint64_t leave)
{
	while (t->inner.n && t->inner.call[t->inner.n - 1].enter >= enter)
		t->inner.n--;
	if (t->inner.n == INNER_CALLS) {
		memmove(t->inner.call, t->inner.call + INNER_CALLS / 2, sizeof(t->inner.call) / 2);
		t->inner.n = INNER_CALLS / 2;
	}
	t->inner.call[t->inner.n++] = (struct inner_call){enter, leave};
}

static void between_calls(const struct thread *t, uint64_t from, uint64_t to,
	enum call_state running, uint64_t state[STATES])
{
	enum call_state is = running;
	uint32_t i = first_after(t, from);
	uint64_t at = from;

	if (i)
		is = t->user.marks[i - 1].state == STATE_ENTRY ? running
							       : t->user.marks[i - 1].state;
	for (; i < t->user.n && at < to; i++) {
		uint64_t end = t->user.marks[i].t;

		if (end > to)
			end = to;
		if (end > at) {
			state[is] += end - at;
			at = end;
		}
		if (t->user.marks[i].t < to)
			is = t->user.marks[i].state == STATE_ENTRY ? running
								   : t->user.marks[i].state;
	}
	if (to > at)
		state[is] += to - at;
}

void thread_user_time(const struct thread *t, uint64_t from, uint64_t to, enum call_state running,
	uint64_t state[STATES])
{
	bool none = !t->inner.n || t->inner.call[t->inner.n - 1].leave <= from;

	for (uint32_t i = 0; i < t->inner.n && !none; i++) {
		uint64_t enter = t->inner.call[i].enter, leave = t->inner.call[i].leave;

		if (leave <= from || enter >= to)
			continue;
		if (enter > from)
			between_calls(t, from, enter, running, state);
		else
			enter = from;
		if (leave > to)
			leave = to;
		state[STATE_SIGNAL] += leave - enter;
		from = leave;
	}
	if (to > from)
		between_calls(t, from, to, running, state);
}

/* Returns the state that a call is in from this event on; STATES if it stays in the one it was in.
 */
static enum call_state state_entered(uint16_t id)
{
	switch (id) {
#define STATE_NONE STATES
#define ENTERED(id, name, NAME, layer, direction, stage, state, ...) \
	case id:                                                     \
		return STATE_##state;
		MG_SYSTEM_EVENTS(ENTERED)
#undef ENTERED
#undef STATE_NONE
	default:
		return STATES;
	}
}

static bool is_of_lock(uint16_t id)
{
	return id == MG_EVENT_lock_wait || id == MG_EVENT_lock_got ||
	       id == MG_EVENT_backlog_begin || id == MG_EVENT_backlog_end;
}

/*
 * Enters or leaves waiting for a socket's lock, or processing its backlog: everything done
 * meanwhile belongs to it.
 */
static void at_lock(const struct core *c, struct thread *t, const struct mg_event *e)
{
	bool waits = e->id == MG_EVENT_lock_wait, begins = waits || e->id == MG_EVENT_backlog_begin;
	enum call_state state = waits || e->id == MG_EVENT_lock_got ? STATE_LOCK : STATE_RELEASE;

	if (!core_knows_lock_state(c, state) || begins == t->at_lock)
		return;
	thread_set_state(t, e->cycles);
	if (begins)
		t->outer = t->fn;
	t->fn = begins ? state : t->outer;
	t->at_lock = begins;
}

const char *thread_program(const struct thread *t)
{
	return t->process && t->process->pid == t->pid && t->process->program
		       ? t->process->program->comm
		       : NULL;
}

/* Emits a wait; its end is 0, or its thread still off the CPU in its struct, where that was not
 * seen. */
static void tell_wait(struct core *c, struct thread *t, uint64_t end, int cpu)
{
	bool seen = t->away.now && end;
	struct fact_wait f = {.end = end,
		.pid = t->pid,
		.tid = t->tid,
		.why = FACT_NO_WORD,
		.in_call = t->in_call,
		.blocked_in = FACT_NO_WORD,
		.descriptor = FACT_NONE,
		.io = FACT_MAYBE,
		.socket = FACT_NONE,
		.woken_by = FACT_NONE,
		.waker = FACT_NONE,
		.cpu_before = t->away.cpu,
		.cpu_after = cpu};

	if (t->pid && !(t->process && t->process->pid == t->pid))
		process_of(c, t); /* a thread without calls has not looked for it yet */
	f.program = thread_program(t);
	if (t->away.now) {
		f.begin = t->away.since;
		f.why = t->away.state != STATE_PREEMPTED ? WAIT_BLOCKED
			: t->away.throttled              ? WAIT_THROTTLED
							 : WAIT_PREEMPTED;
	}
	if (t->wake.valid) {
		f.woken = t->wake.at;
		f.queued = t->wake.queued_at;
		if (t->wake.sock)
			f.woken_by = t->wake.sock;
		if (t->wake.waker)
			f.waker = t->wake.waker;
	}
	if (f.why == WAIT_BLOCKED)
		blocked_tell(c, t, &f);
	f.complete = seen && t->away.state != STATE_BLOCKED &&
		     !gap_within(c, MG_LAYER_SCHED, f.begin, end, -1, -1);
	if (end && past_wanted(c))
		past_keep(c, t, &f);
	emit_wait(&c->facts, &f);
}

static bool wait_is_wanted(const struct core *c)
{
	return facts_wanted(&c->facts, FACT_wait) || past_wanted(c);
}

void thread_wait_lost(struct core *c, struct thread *t)
{
	if (t->away.now && wait_is_wanted(c))
		tell_wait(c, t, 0, -1);
}

/* Something of what the thread did since then was not seen. */
static void missed(struct thread *t, uint64_t since, uint64_t now)
{
	t->now.incomplete = true;
	t->missed.from = since;
	t->missed.to = now;
}

void thread_is_running(struct core *c, struct thread *t, uint64_t now)
{
	thread_wait_lost(c, t);
	past_missed(c, t, t->away.since, now);
	missed(t, t->away.since, now);
	thread_set_state(t, now);
	t->away.now = t->wake.valid = t->away.held = false;
	mark(t, now);
}

void thread_on_event(struct core *c, struct thread *t, const struct mg_event *e)
{
	enum call_state entered;

	if (t->away.now) /* that it got the CPU was not seen */
		thread_is_running(c, t, e->cycles);
	switch (e->id) {
	case MG_EVENT_irq_entry:
	case MG_EVENT_irq_exit:
		thread_set_state(t, e->cycles);
		t->in_irq = e->id == MG_EVENT_irq_entry;
		mark(t, e->cycles);
		return;
	case MG_EVENT_softirq_entry:
	case MG_EVENT_softirq_exit:
		thread_set_state(t, e->cycles);
		t->in_softirq = e->id == MG_EVENT_softirq_entry;
		t->softirq = e->softirq.vec;
		mark(t, e->cycles);
		return;
	default:
		break;
	}
	if (!t->in_call || t->in_irq || t->in_softirq)
		return;
	t->now.events++;
	if (is_of_lock(e->id)) {
		at_lock(c, t, e);
		return;
	}
	entered = state_entered(e->id);
	if (entered == STATES || t->at_lock)
		return;
	thread_set_state(t, e->cycles);
	t->fn = entered;
}

/* A wakeup later than this after the bytes were ready has another cause. */
#define WAKING_NS 100000

static uint64_t waking_sock(const struct core *c, const struct mg_event *e)
{
	const struct readying *r;

	if (e->cpu < 0 || e->cpu >= CPUS_MAX)
		return 0;
	r = &c->readying[e->cpu];
	return r->sock && e->cycles - r->t < clockmap_span(&c->clock, WAKING_NS) ? r->sock : 0;
}

/* Returns the events recorded in the waker's path here, by whose cost the wait is longer. */
static uint32_t waker_events(const struct core *c, int cpu)
{
	return cpu >= 0 && cpu < CPUS_MAX ? c->readying[cpu].events : 0;
}

/* Returns the traced thread that wakes another one itself; 0: none, or an interrupt does. */
static uint32_t waker_of(struct core *c, const struct mg_event *e)
{
	const struct thread *by = e->tid ? thread_get(c, e->tid, 0) : NULL;

	return by && by->traced && !by->in_irq && !by->in_softirq ? by->tid : 0;
}

void thread_on_waking(struct core *c, const struct mg_event *e)
{
	struct thread *t = thread_get(c, e->sched_waking.wakee_tid, e->sched_waking.wakee_pid);

	if (!t)
		return;
	t->traced = true;
	if (!t->away.now) { /* no block, if it leaves the CPU at all */
		t->wake.early = e->cycles;
		t->wake.early_waker = waker_of(c, e);
	}
	if (!t->away.now || t->away.state != STATE_BLOCKED)
		return;
	thread_set_state(t, e->cycles);
	if (t->in_call) {
		t->now.waker_events += waker_events(c, e->cpu);
		t->now.locked_out += t->away.uninterruptible ? e->cycles - t->away.since : 0;
	}
	t->away.state = STATE_WAKEUP;
	t->wake.at = e->cycles;
	t->wake.sock = waking_sock(c, e);
	t->wake.waker = waker_of(c, e);
	t->wake.valid = true;
	t->wake.queued_at = 0;
	mark(t, e->cycles);
}

/*
 * Notes that a thread is on a run queue: another CPU's, by an interrupt there, some time after the
 * wakeup.
 */
void thread_on_wakeup(struct core *c, const struct mg_event *e)
{
	struct thread *t = thread_get(c, e->sched_waking.wakee_tid, e->sched_waking.wakee_pid);

	if (!t || !t->away.now || !t->wake.valid || t->wake.queued_at || e->cycles < t->wake.at)
		return;
	t->wake.queued_at = e->cycles;
}

#define TASK_UNINTERRUPTIBLE 0x2
#define OF_RUN_QUEUE         2   /* throttled: not the thread alone */
#define TASK_HALTED          0xc /* __TASK_STOPPED | __TASK_TRACED */
#define HELD_LONG_NS         100000000

/* Notes why a thread leaves the CPU. */
static void note_why(struct core *c, struct thread *t, const struct mg_sched_switch *p)
{
	blocked_note(t, p);
	c->tasks.throttles_run_queues |= p->throttled == OF_RUN_QUEUE;
}

static void leave(struct core *c, struct thread *t, const struct mg_event *e)
{
	const struct mg_sched_switch *p = &e->sched_switch;

	thread_set_state(t, e->cycles);
	thread_wait_lost(c, t);
	if (t->away.now) { /* its return to the CPU was not seen */
		past_missed(c, t, t->away.since, e->cycles);
		missed(t, t->away.since, e->cycles);
	}
	t->away.now = true;
	t->in_irq = t->in_softirq = false;
	t->away.uninterruptible = p->prev_state == TASK_UNINTERRUPTIBLE;
	note_why(c, t, p);
	t->wake.valid = false;
	t->away.state = p->preempt || p->prev_state == 0 ? STATE_PREEMPTED : STATE_BLOCKED;
	t->away.held = t->away.state == STATE_PREEMPTED || p->prev_state & TASK_HALTED;
	t->away.since = e->cycles;
	if (t->in_call) {
		t->now.left_times++;
		t->now.blocked_times += t->away.state == STATE_BLOCKED;
	}
	if (t->away.state == STATE_BLOCKED)
		t->segment_of = 0;
	t->away.cpu = e->cpu;
	mark(t, e->cycles);
}

/*
 * A wakeup on another CPU may come after the thread has decided to sleep and before sched_switch
 * records it: then it never blocks, but waits for a CPU from the moment it leaves its own.
 */
#define EARLY_NS 20000 /* an earlier wakeup belongs to a sleep that was cancelled */

static void find_its_waking(const struct core *c, struct thread *t, uint64_t now)
{
	if (!t->wake.early || t->away.since - t->wake.early > clockmap_span(&c->clock, EARLY_NS)) {
		missed(t, t->away.since, now); /* its wakeup was not seen */
		return;
	}
	t->away.state = STATE_WAKEUP;
	t->wake.valid = true;
	t->wake.queued_at = 0;
	t->wake.at = t->away.since;
	t->wake.sock = 0;
	t->wake.waker = t->wake.early_waker;
	if (t->in_call)
		t->now.blocked_times--;
	else if (t->user.n && t->user.marks[t->user.n - 1].t == t->away.since)
		t->user.marks[t->user.n - 1].state = STATE_WAKEUP;
}

static void arrive(struct core *c, struct thread *t, const struct mg_event *e)
{
	if (t->away.now && t->away.state == STATE_BLOCKED)
		find_its_waking(c, t, e->cycles);
	if (wait_is_wanted(c))
		tell_wait(c, t, e->cycles, e->cpu);
	if (!t->away.now) /* that it left was not seen */
		missed(t, t->since, e->cycles);
	thread_set_state(t, e->cycles);
	if (t->wake.valid && e->cycles >= t->wake.at)
		t->wake.ran = e->cycles;
	if (t->away.held && t->done.n &&
		clockmap_ns(&c->clock, e->cycles) - clockmap_ns(&c->clock, t->away.since) >
			HELD_LONG_NS)
		t->away.held_until = e->cycles;
	t->away.held = false;
	t->away.cpu = e->cpu;
	t->away.now = false;
	t->wake.valid = false;
	t->wake.early = 0;
	mark(t, e->cycles);
}

void thread_on_switch(struct core *c, const struct mg_event *e)
{
	const struct mg_sched_switch *p = &e->sched_switch;
	struct thread *t;

	if (switch_is_repeated(c, e)) {
		t = thread_find(c, p->prev_tid);
		if (t && t->away.now && t->away.entry == MG_ENTRY_UNKNOWN && !t->away.throttled) {
			note_why(c, t, p);
		}
		return;
	}
	if (facts_wanted(&c->facts, FACT_switch))
		emit_switch(&c->facts, &(struct fact_switch){.time = e->cycles,
					       .cpu = e->cpu,
					       .from = p->prev_tid,
					       .to = p->next_tid});
	/* only one of the two need be traced; of the other we see too little to follow it */
	if (p->prev_tid) {
		t = thread_get(c, p->prev_tid, 0);
		if (t && t->traced)
			leave(c, t, e);
	}
	if (p->next_tid) {
		t = thread_get(c, p->next_tid, 0);
		if (t && t->traced)
			arrive(c, t, e);
	}
}

bool core_throttles_run_queues(const struct core *c)
{
	return c->tasks.throttles_run_queues;
}

void thread_on_switch_cost(const struct core *c, const struct mg_event *e)
{
	const struct mg_sched_cost *p = &e->sched_cost;

	if (facts_wanted(&c->facts, FACT_switch_cost))
		emit_switch_cost(&c->facts, &(struct fact_switch_cost){.time = e->cycles,
						    .cpu = e->cpu,
						    .from = p->prev_tid,
						    .to = p->next_tid,
						    .decide = p->decide_ns,
						    .reload = p->reload_ns,
						    .interrupts = p->irqs});
}
