/* SPDX-License-Identifier: MIT */
/* Empties the rings of the chosen tracepoints into the trace. */
#define _GNU_SOURCE
#include "events/chosen_rings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clock.h"
#include "events/chosen_find.h"
#include "events/chosen_pack.h"

/*
 * An occurrence gets its time before its place in the ring, so an occurrence that was interrupted
 * in between stands behind those of the interrupt. Occurrences younger than this wait for the next
 * pass, when all earlier ones are in the ring.
 */
#define SETTLE_NS 2000000

/* bits of common_flags set in interrupts: the current task did not cause the event */
#define FLAGS_INTERRUPT 0x58 /* hardirq 8, softirq 0x10, NMI 0x40 */

/* Record layout that perf writes for the sample_type of chosen_rings_open.c. */
struct sample {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t time;
	uint64_t period; /* how much the kernel's count grows with the occurrence, mostly 1 */
	uint32_t raw_size;
	uint8_t raw[];
};
struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
	uint32_t pid, tid;
	uint64_t time;
};
/* fields with which every tracepoint's record begins */
struct common {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid; /* id of the thread */
};

static int each_event(struct chosen_rings *r, unsigned long what)
{
	for (int i = 0; i < r->cpus; i++)
		for (size_t k = 0; r->ring[i].map && k < r->list->count; k++)
			if (r->ring[i].fd[k] >= 0 && ioctl(r->ring[i].fd[k], what, 0) != 0)
				return -errno;
	return 0;
}

int chosen_rings_start(struct chosen_rings *r, struct ctf_writer *w)
{
	r->writer = w;
	for (int i = 0; i < r->cpus; i++)
		r->ring[i].last_time = mg_monotonic_ns();
	return each_event(r, PERF_EVENT_IOC_ENABLE);
}

int chosen_rings_record(struct chosen_rings *r, bool on)
{
	return each_event(r, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE);
}

/* Returns the record at a position in one piece; copies it if it wraps. */
static const void *record_at(struct chosen_rings *r, const struct event_ring *ring, uint64_t at)
{
	uint64_t from = at & (r->bytes - 1);
	const struct perf_event_header *h = (const void *)(ring->data + from);
	size_t first = (size_t)(r->bytes - from);

	if (h->size <= first)
		return h;
	memcpy(r->record, h, first);
	memcpy(r->record + first, ring->data, h->size - first);
	return r->record;
}

static int tell_lost(struct chosen_rings *r, struct event_ring *ring, uint64_t count, uint64_t to)
{
	struct mg_lost e = {.count = count,
		.from_ns = ring->last_time,
		.to_ns = to,
		.cpu = ring->cpu,
		.reason = MG_LOST_CHOSEN};

	memcpy(e.producer, r->producer, sizeof(e.producer));
	ring->lost += count;
	r->lost += count;
	ctf_set_discarded(r->writer, CTF_CHOSEN(ring->cpu), ring->lost);
	return ctf_event(
		r->writer, CTF_CHOSEN(ring->cpu), MG_EVENT_lost, to, &e, MG_PAYLOAD_SIZE(LOST));
}

static int write_sample(struct chosen_rings *r, struct event_ring *ring, const struct sample *s)
{
	const struct common *c = (const void *)s->raw;
	const struct chosen_event *e;
	size_t size;
	int index;

	ring->taken += s->period;
	ring->weighted |= s->period != 1;
	if (s->raw_size < sizeof(*c) || c->type >= r->types)
		return 0;
	index = r->event_of_type[c->type];
	if (!index)
		return 0;
	ring->last_time = s->time;
	if (s->pid == (uint32_t)r->self && !(c->flags & FLAGS_INTERRUPT))
		return 0; /* the tracer's own event */
	e = &r->list->event[index - 1];
	size = format_pack(&e->format, s->raw, s->raw_size, r->payload, sizeof(r->payload));
	/* perf no longer has the process id during the last steps of a thread that ends */
	return ctf_event_on(r->writer, CTF_CHOSEN(ring->cpu), e->id, s->time, (uint32_t)c->pid,
		s->pid == UINT32_MAX ? 0 : s->pid, r->payload, (uint32_t)size);
}

static int write_record(struct chosen_rings *r, struct event_ring *ring, uint64_t at)
{
	const struct perf_event_header *h = record_at(r, ring, at);

	if (h->type == PERF_RECORD_SAMPLE)
		return write_sample(r, ring, (const void *)h);
	if (h->type == PERF_RECORD_LOST) {
		const struct lost_record *l = (const void *)h;

		return tell_lost(r, ring, l->lost, l->time);
	}
	return 0;
}

static uint64_t time_of(const struct perf_event_header *h)
{
	if (h->type == PERF_RECORD_SAMPLE)
		return ((const struct sample *)h)->time;
	if (h->type == PERF_RECORD_LOST)
		return ((const struct lost_record *)h)->time;
	return 0;
}

/* Inserts an occurrence into the queue, which is nearly in order already. */
static int enqueue(struct event_ring *ring, size_t n, uint64_t time, uint64_t at)
{
	if (n == ring->queue_size) {
		size_t size = n ? n * 2 : 1024;
		struct queued *more = realloc(ring->queue, size * sizeof(*more));

		if (!more)
			return -ENOMEM;
		ring->queue = more;
		ring->queue_size = size;
	}
	for (; n && ring->queue[n - 1].time > time; n--)
		ring->queue[n] = ring->queue[n - 1];
	ring->queue[n] = (struct queued){time, at};
	return 0;
}

/*
 * Writes all occurrences up to `until`. Returns how full the ring was, in percent, or a negative
 * errno.
 */
static int empty(struct chosen_rings *r, struct event_ring *ring, uint64_t until)
{
	uint64_t head = __atomic_load_n(&ring->map->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->tail, last = 0;
	int fill = (int)((head - tail) * 100 / r->bytes), err = 0;
	size_t n = 0;

	while (tail != head && !err) {
		const struct perf_event_header *h = record_at(r, ring, tail);
		uint64_t time = time_of(h);

		if (time > until)
			break;
		if (!time) /* record types without a time */
			time = last;
		err = enqueue(ring, n, time, tail);
		if (err && n) { /* writes the queued ones first; the rest waits in the ring */
			err = 0;
			break;
		}
		n += !err;
		last = time;
		tail += h->size;
	}
	for (size_t i = 0; i < n && !err; i++)
		err = write_record(r, ring, ring->queue[i].at);
	ring->tail = tail;
	__atomic_store_n(&ring->map->data_tail, tail, __ATOMIC_RELEASE);
	return err ? err : fill;
}

static int empty_all(struct chosen_rings *r, uint64_t until)
{
	int fullest = 0;

	for (int i = 0; i < r->cpus; i++) {
		int fill = r->ring[i].map ? empty(r, &r->ring[i], until) : 0;

		if (fill < 0)
			return fill;
		if (fill > fullest)
			fullest = fill;
	}
	return fullest;
}

int chosen_rings_pass(struct chosen_rings *r)
{
	return empty_all(r, mg_monotonic_ns() - SETTLE_NS);
}

/*
 * Reports losses after the last recorded occurrence. The kernel counts what was lost; before Linux
 * 6.0 it only counts all occurrences, which gives the same result unless some count for more than
 * one.
 */
static int tell_trailing(struct chosen_rings *r, struct event_ring *ring)
{
	uint64_t lost = 0, met = 0;

	for (size_t i = 0; i < r->list->count; i++) {
		uint64_t count[2]; /* occurrences, losses */
		ssize_t size = ring->fd[i] < 0 ? 0 : read(ring->fd[i], count, sizeof(count));

		if (size >= (ssize_t)sizeof(count[0]))
			met += count[0];
		if (size == (ssize_t)sizeof(count))
			lost += count[1];
	}
	if (!ring->counts_lost)
		lost = ring->weighted || met < ring->taken ? 0 : met - ring->taken;
	return lost > ring->lost ? tell_lost(r, ring, lost - ring->lost, mg_monotonic_ns()) : 0;
}

int chosen_rings_finish(struct chosen_rings *r)
{
	int err = each_event(r, PERF_EVENT_IOC_DISABLE);

	if (!err)
		err = empty_all(r, UINT64_MAX);
	for (int i = 0; i < r->cpus && err >= 0; i++)
		if (r->ring[i].map)
			err = tell_trailing(r, &r->ring[i]);
	return err < 0 ? err : 0;
}

uint64_t chosen_rings_lost(const struct chosen_rings *r)
{
	return r->lost;
}
