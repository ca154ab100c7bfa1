/* SPDX-License-Identifier: MIT */
#include "rings/drain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "hooks/hooks.h"
#include "hooks/slots.h"
#include "rings/drop_names.h"
#include "rings/not_run.h"

struct reader {
	struct mg_ring *ring;
	uint64_t tail;
	uint64_t lost;    /* losses of the ring that the trace has reported so far */
	uint64_t before;  /* losses before the recording */
	uint64_t last_ts; /* time of the last event read */
	/*
	 * the ring's counts, and the time they were first seen, while a loss waits for a later slot
	 * to report it
	 */
	struct {
		uint64_t lost, head, at;
	} quiet;
	struct not_run_cpu not_run;
};

/* events that identify the callers of system calls */
#define CALLERS_INTEREST MG_EVENTS(sys_enter, task_exec, task_fork)

struct drain {
	struct hooks *hooks;
	struct ctf_writer *writer;
	struct reader *cpu;
	struct ring_shape shape;
	uint64_t lost;             /* losses on all CPUs, for all reasons */
	uint64_t skipped;          /* part of them: programs that did not run */
	uint64_t misses_until;     /* time up to which missed programs have been reported */
	struct mg_events interest; /* events that look_at() inspects */
	struct mg_events watched;  /* part of them: events passed to `watch` */
	void (*watch)(void *arg, const struct mg_slot *s);
	void *watch_arg;
	bool paused, stopped;
	uint64_t paused_at;
	uint64_t not_recorded; /* events during pauses */
	struct callers callers;
	struct drop_names *drop_names;
	enum not_run not_run;
	/* since the last pass: whether a ring holds back drops, or had a slot not filled yet */
	bool is_held, is_unfilled;
};

int drain_new(struct drain **out, struct hooks *h, struct ctf_writer *w)
{
	struct drain *d = calloc(1, sizeof(*d));
	uint64_t now = mg_monotonic_ns();

	if (!d)
		return -ENOMEM;
	d->cpu = calloc((size_t)h->cpus, sizeof(*d->cpu));
	if (!d->cpu) {
		free(d);
		return -ENOMEM;
	}
	d->drop_names = drop_names_new();
	if (!d->drop_names) {
		free(d->cpu);
		free(d);
		return -ENOMEM;
	}
	d->hooks = h;
	d->interest = CALLERS_INTEREST;
	d->writer = w;
	d->shape.mask = h->ring_slots - 1;
	d->shape.shift = (unsigned int)(63 - __builtin_clzll(h->ring_slots));
	d->shape.near_mask = h->near_slots - 1;
	d->shape.near_shift = (unsigned int)(63 - __builtin_clzll(h->near_slots));
	d->misses_until = now;
	for (int i = 0; i < h->cpus; i++) {
		struct reader *r = &d->cpu[i];

		r->ring = hooks_ring(h, i);
		r->last_ts = now;
		r->tail = __atomic_load_n(&r->ring->head, __ATOMIC_ACQUIRE);
		r->lost = r->before = r->ring->lost;
		__atomic_store_n(&r->ring->tail, r->tail, __ATOMIC_RELEASE);
	}
	*out = d;
	return 0;
}

static int tell_lost(struct drain *d, int cpu, uint64_t count, uint64_t from, uint64_t to)
{
	struct mg_lost e = {.count = count,
		.from_ns = from,
		.to_ns = to,
		.cpu = cpu,
		.reason = MG_LOST_RING_FULL,
		.producer = "ring"};
	struct reader *r = &d->cpu[cpu];

	r->lost += count;
	d->lost += count;
	ctf_set_discarded(d->writer, cpu, r->lost - r->before);
	return ctf_event(d->writer, cpu, MG_EVENT_lost, to, &e, MG_PAYLOAD_SIZE(LOST));
}

/* Reports packets that passed while process 1 ran and no tracing program did. */
static int tell_not_run(struct drain *d, int cpu, uint64_t to)
{
	struct not_run_cpu *at = &d->cpu[cpu].not_run;
	struct mg_lost e = {.from_ns = at->from_ns,
		.to_ns = to,
		.cpu = cpu,
		.reason = MG_LOST_NOT_RUN,
		.producer = "hooks not run in process 1"};

	e.count = not_run_end(&d->not_run, at, hooks_feed(d->hooks, "dev_recv"));
	if (!e.count)
		return 0;
	d->lost += e.count;
	d->skipped += e.count;
	return ctf_event(d->writer, cpu, MG_EVENT_lost, to, &e, MG_PAYLOAD_SIZE(LOST));
}

/*
 * Returns whether the call moves the program's data. A program that only resolves names opens and
 * connects sockets, but moves nothing, or only netlink messages that the kernel itself answers.
 */
static bool moves(const struct mg_sys_enter *p)
{
	enum mg_direction dir = mg_syscall_direction(p->call);

	return p->kind != MG_KIND_netlink && (dir == MG_DIR_TX || dir == MG_DIR_RX);
}

void drain_ask_names(struct drain *d, int program, int map)
{
	drop_names_ask(d->drop_names, program, map);
}

/* Writes a slot as an event; a drop gets its names here. */
static int write_slot(struct drain *d, int cpu, const struct mg_slot *s)
{
	struct mg_drop e;

	if (s->id != MG_EVENT_drop_raw)
		return ctf_slot(d->writer, cpu, s);
	drop_names_of(d->drop_names, (const void *)s->payload, &e);
	return ctf_event_on(
		d->writer, cpu, MG_EVENT_drop, s->ts, s->tid, s->pid, &e, MG_PAYLOAD_SIZE(DROP));
}

/* Gives a new thread or process its parent's name. */
static void name_forked(struct drain *d, const struct mg_slot *s)
{
	const struct mg_task_fork *f = (const void *)s->payload;

	if (f->child_tid == f->child_pid)
		callers_forked(&d->callers, s->pid, f->child_pid, s->ts, f->comm);
}

static void look_at(struct drain *d, const struct mg_slot *s)
{
	if (s->id == MG_EVENT_sys_enter)
		callers_tell(&d->callers, s->pid, s->ts, moves((const void *)s->payload));
	else if (s->id == MG_EVENT_task_exec)
		callers_executed(&d->callers, s->pid, s->ts,
			((const struct mg_task_exec *)s->payload)->comm);
	else if (s->id == MG_EVENT_task_fork)
		name_forked(d, s);
	if (d->watch && mg_events_have(d->watched, s->id))
		d->watch(d->watch_arg, s);
}

void drain_watch(struct drain *d, struct mg_events of,
	void (*see)(void *arg, const struct mg_slot *s), void *arg)
{
	d->watched = of;
	d->watch = see;
	d->watch_arg = arg;
	d->interest = CALLERS_INTEREST;
	mg_events_add_all(&d->interest, of);
}

#define HOLD_BELOW 50 /* percent */

/*
 * Returns whether a slot must wait. A drop, and every slot behind it, waits in its ring until the
 * names are known, as long as the ring is less than half full; beyond that, drops are written
 * without names.
 */
static bool is_to_wait(struct drain *d, const struct mg_slot *s, int fill)
{
	if (s->id != MG_EVENT_drop_raw ||
		drop_names_ready(d->drop_names, (const void *)s->payload) || fill >= HOLD_BELOW)
		return false;
	d->is_held = true;
	return true;
}

/*
 * Writes what is in one CPU's ring. Returns how full it was, in percent, or a negative errno; 0 if
 * the rest is held back.
 */
static int read_ring(struct drain *d, int cpu)
{
	struct reader *r = &d->cpu[cpu];
	uint64_t tail = r->tail;
	uint64_t head = __atomic_load_n(&r->ring->head, __ATOMIC_ACQUIRE);
	int fill = (int)((head - tail) * 100 >> d->shape.shift);
	int err = 0;

	for (; tail != head; tail++) {
		uint64_t word;
		const struct mg_slot *s = find_slot(&d->shape, r->ring, tail, &word);

		if (!s) {
			d->is_unfilled = true;
			break;
		}
		if (is_to_wait(d, s, fill)) {
			fill = 0;
			break;
		}
		if ((uint32_t)word != (uint32_t)r->lost) {
			int32_t more = (int32_t)((uint32_t)word - (uint32_t)r->lost);

			/* a lower count: the slot was taken before a pause that has ended */
			err = more > 0 ? tell_lost(d, cpu, (uint32_t)more, r->last_ts, s->ts) : 0;
			r->not_run.packets = 0; /* the events of its packets may be among those */
			if (err)
				break;
		}
		if (s->pid == NOT_RUN_PROCESS)
			not_run_see(&d->not_run, &r->not_run, s, r->last_ts);
		else if (r->not_run.packets && (err = tell_not_run(d, cpu, s->ts)))
			break;
		err = write_slot(d, cpu, s);
		if (err)
			break;
		r->last_ts = s->ts;
		if (mg_events_have(d->interest, s->id))
			look_at(d, s);
		forget_far(&d->shape, r->ring, tail, s);
		if ((tail & 1023) == 1023) /* frees slots early */
			__atomic_store_n(&r->ring->tail, tail + 1, __ATOMIC_RELEASE);
	}
	r->tail = tail;
	__atomic_store_n(&r->ring->tail, tail, __ATOMIC_RELEASE);
	return err ? err : fill;
}

/*
 * Reports losses that no later slot shows: those of a ring that is still full at the end, or that
 * lost only its last events.
 */
static int tell_trailing(struct drain *d, int cpu, uint64_t lost, uint64_t to)
{
	struct reader *r = &d->cpu[cpu];
	int err = tell_lost(d, cpu, lost - r->lost, r->last_ts, to);

	r->last_ts = to;
	return err;
}

/* Reports all losses so far. Call it at the end, and where the trace is cut. */
static int tell_all_trailing(struct drain *d)
{
	int err = 0;

	for (int i = 0; i < d->hooks->cpus && !err; i++) {
		uint64_t lost = __atomic_load_n(&d->cpu[i].ring->lost, __ATOMIC_ACQUIRE);

		if (lost != d->cpu[i].lost)
			err = tell_trailing(d, i, lost, mg_monotonic_ns());
		if (!err && d->cpu[i].not_run.packets)
			err = tell_not_run(d, i, mg_monotonic_ns());
	}
	return err;
}

#define QUIET_NS 10000000

/*
 * Reports a loss on a CPU that has become quiet, where it would otherwise wait for the next event.
 * The report is delayed by QUIET_NS: until then a program that read the clock before the reported
 * time may still take a slot.
 */
static int tell_if_quiet(struct drain *d, int cpu)
{
	struct reader *r = &d->cpu[cpu];
	uint64_t lost = __atomic_load_n(&r->ring->lost, __ATOMIC_ACQUIRE), head, now;

	if (lost == r->lost)
		return 0;
	head = __atomic_load_n(&r->ring->head, __ATOMIC_ACQUIRE);
	now = mg_monotonic_ns();
	if (head != r->tail || lost != r->quiet.lost || head != r->quiet.head) {
		r->quiet.lost = lost;
		r->quiet.head = head;
		r->quiet.at = now;
		return 0;
	}
	return now - r->quiet.at < QUIET_NS ? 0 : tell_trailing(d, cpu, lost, r->quiet.at);
}

int drain_pass(struct drain *d)
{
	int fullest = 0;

	d->is_held = d->is_unfilled = false;
	if (d->paused)
		return 0;
	for (int i = 0; i < d->hooks->cpus; i++) {
		int fill = read_ring(d, i), err = fill < 0 ? fill : tell_if_quiet(d, i);

		if (err)
			return err;
		if (fill > fullest)
			fullest = fill;
	}
	callers_turn(&d->callers);
	return fullest;
}

int drain_pass_all(struct drain *d)
{
	int err = drain_pass(d);

	if (err < 0 || !d->is_held)
		return err;
	drop_names_wait(d->drop_names);
	return drain_pass(d);
}

bool drain_has_left(const struct drain *d)
{
	return d->is_held || d->is_unfilled;
}

int drain_cut(struct drain *d)
{
	int err = drain_pass_all(d);

	return err < 0 ? err : d->paused ? 0 : tell_all_trailing(d);
}

/*
 * Makes the rings look full, at no cost to the programs that would record: what finds no room
 * counts as not recorded instead of lost. Slots taken during the switch are read after it has
 * ended.
 */
static void close_rings(struct drain *d)
{
	for (int i = 0; i < d->hooks->cpus; i++) {
		struct mg_ring *ring = d->cpu[i].ring;
		uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);

		__atomic_store_n(&ring->tail, head - (d->shape.mask + 1), __ATOMIC_RELEASE);
	}
}

/* Returns how many events found the rings closed. */
static uint64_t open_rings(struct drain *d, uint64_t now)
{
	uint64_t count = 0;

	for (int i = 0; i < d->hooks->cpus; i++) {
		struct reader *r = &d->cpu[i];
		uint64_t missed;

		__atomic_store_n(&r->ring->tail, r->tail, __ATOMIC_SEQ_CST);
		missed = __atomic_load_n(&r->ring->lost, __ATOMIC_SEQ_CST) - r->lost;
		r->lost += missed;
		r->before += missed;
		r->last_ts = now;
		count += missed;
	}
	return count;
}

int drain_pause(struct drain *d)
{
	int err = drain_cut(d); /* events that found a ring full before the pause are losses */

	if (err || d->paused)
		return err;
	d->paused = true;
	close_rings(d);
	d->paused_at = mg_monotonic_ns();
	return 0;
}

int drain_resume(struct drain *d)
{
	struct mg_lost e = {
		.from_ns = d->paused_at, .cpu = -1, .reason = MG_LOST_PAUSED, .producer = "paused"};

	if (!d->paused)
		return 0;
	e.to_ns = mg_monotonic_ns();
	d->paused = false;
	e.count = open_rings(d, e.to_ns);
	d->not_recorded += e.count;
	return drain_note(d, MG_EVENT_lost, &e, MG_PAYLOAD_SIZE(LOST));
}

int drain_stop(struct drain *d)
{
	int err = drain_cut(d);

	if (err || d->paused)
		return err;
	d->stopped = true;
	close_rings(d);
	return 0;
}

int drain_finish(struct drain *d)
{
	int err = drain_resume(d);

	if (d->stopped)
		open_rings(d, mg_monotonic_ns());
	d->stopped = false;
	return err ? err : drain_cut(d);
}

int drain_note(struct drain *d, uint16_t id, const void *payload, uint32_t size)
{
	return ctf_event(d->writer, CTF_OWN_STREAM, id, mg_monotonic_ns(), payload, size);
}

#define LOOK_NS      90000000
#define LOOK_SOON_NS 10000000

struct missing {
	struct drain *drain;
	uint64_t now;
	bool any;
	int err;
};

static void tell_missing(void *arg, const char *producer, uint64_t count, uint32_t reason)
{
	struct missing *m = arg;
	struct drain *d = m->drain;
	struct mg_lost e = {.count = count,
		.from_ns = d->misses_until,
		.to_ns = m->now,
		.cpu = -1,
		.reason = reason};

	snprintf(e.producer, sizeof(e.producer), "%s", producer);
	m->any = true;
	d->lost += count;
	d->skipped += count;
	if (!m->err)
		m->err = drain_note(d, MG_EVENT_lost, &e, MG_PAYLOAD_SIZE(LOST));
}

int64_t drain_check_misses(struct drain *d)
{
	struct missing m = {.drain = d, .now = mg_monotonic_ns()};

	hooks_new_misses(d->hooks, tell_missing, &m);
	d->misses_until = m.now;
	return m.err ? m.err : m.any ? LOOK_SOON_NS : LOOK_NS;
}

uint64_t drain_lost(const struct drain *d)
{
	return d->lost;
}

uint64_t drain_lost_on(const struct drain *d, int cpu)
{
	return d->cpu[cpu].lost - d->cpu[cpu].before;
}

uint64_t drain_not_recorded(const struct drain *d)
{
	return d->not_recorded;
}

uint64_t drain_skipped(const struct drain *d)
{
	return d->skipped;
}

void drain_free(struct drain *d)
{
	if (!d)
		return;
	callers_free(&d->callers);
	drop_names_free(d->drop_names);
	free(d->cpu);
	free(d);
}

const struct callers *drain_callers(struct drain *d)
{
	callers_turn(&d->callers);
	callers_turn(&d->callers);
	return &d->callers;
}
