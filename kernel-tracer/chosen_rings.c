/* SPDX-License-Identifier: MIT */
/* perf events of the chosen tracepoints, and their ring on each CPU. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "chosen.h"
#include "clock.h"
#include "tracefs.h"

/*
 * An occurrence gets its time before its place in the ring, so one that an interrupt came in
 * between stands behind the interrupt's. What is younger than this waits for the next pass, when
 * all that belongs before it is there.
 */
#define SETTLE_NS 2000000

#define RECORD_MAX   65536
#define PAYLOAD_ROOM 65536

/* in common_flags: on top of a task, not of its doing */
#define FLAGS_INTERRUPT 0x58 /* hardirq 8, softirq 0x10, NMI 0x40 */

/* As perf writes them for the sample_type below. */
struct sample {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t raw_size;
	uint8_t raw[];
};
struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
	uint32_t pid, tid;
	uint64_t time;
};
/* what every tracepoint's record begins with */
struct common {
	uint16_t type;
	uint8_t flags, preempt_count;
	int32_t pid; /* of the thread */
};

struct queued {
	uint64_t time, at; /* position in the ring */
};

struct event_ring {
	int cpu;
	int *fd;                          /* an event each, -1 = none */
	int leader;                       /* of these, the one whose ring all others use */
	struct perf_event_mmap_page *map; /* NULL: the CPU is not there */
	const uint8_t *data;
	uint64_t tail;
	uint64_t taken, lost; /* occurrences read and told as lost */
	uint64_t last_time;   /* of the last occurrence written */
	struct queued *queue; /* of one pass, by time */
	size_t queue_size;
};

struct chosen_rings {
	struct chosen_list *list;
	struct ctf_writer *writer;
	struct event_ring *ring;
	int cpus;
	uint64_t bytes; /* a ring */
	uint64_t lost;
	uint16_t *event_of_type; /* index + 1 by the kernel's number */
	size_t types;
	pid_t self;
	char producer[32];
	_Alignas(8) uint8_t record[RECORD_MAX]; /* one that is in two pieces in the ring */
	uint8_t payload[PAYLOAD_ROOM];
};

/* ---- opening ---- */

static int open_event(const struct chosen_event *e, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = e->format.id,
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.disabled = 1,
		.sample_id_all = 1, /* losses have a time too */
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1, /* nobody is woken: the tracer looks by itself */
		.wakeup_watermark = UINT32_MAX,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int paranoid(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int n = 0;

	if (f && fscanf(f, "%d", &n) != 1)
		n = 0;
	if (f)
		fclose(f);
	return n;
}

static int refused(const struct chosen_event *e, int err, char *why, size_t size)
{
	if (err == -EACCES || err == -EPERM)
		snprintf(why, size,
			"the kernel refuses perf events of %s:%s (%s): it takes root or "
			"CAP_PERFMON "
			"(kernel.perf_event_paranoid is %d); events that perf itself causes are "
			"refused to everybody",
			e->category, e->name, strerror(-err), paranoid());
	else if (err == -EMFILE || err == -ENFILE)
		snprintf(why, size,
			"too many events at once: each takes a descriptor a CPU (ulimit -n)");
	else
		snprintf(why, size, "%s:%s cannot be recorded: %s", e->category, e->name,
			strerror(-err));
	return err;
}

static int set_filter(const struct chosen_event *e, int tracefs, int fd, char *why, size_t size)
{
	char reason[128];
	int err;

	if (!e->filter || ioctl(fd, PERF_EVENT_IOC_SET_FILTER, e->filter) == 0)
		return 0;
	err = -errno;
	if (err != -EINVAL && err != -ENOENT) {
		snprintf(why, size, "%s:%s: the filter '%s' cannot be set: %s", e->category,
			e->name, e->filter, strerror(-err));
		return err;
	}
	tracefs_filter_reason(tracefs, e->category, e->name, e->filter, reason, sizeof(reason));
	snprintf(why, size, "%s:%s: the kernel does not understand the filter '%s': %s",
		e->category, e->name, e->filter, reason[0] ? reason : strerror(-err));
	return -EINVAL;
}

static int map_ring(struct chosen_rings *r, struct event_ring *ring, int fd, char *why, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *map = mmap(NULL, page + r->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED) {
		int err = -errno;

		snprintf(why, size, "no ring of %llu bytes a CPU for events: %s%s",
			(unsigned long long)r->bytes, strerror(-err),
			err == -EPERM ? " (it takes CAP_IPC_LOCK, or a smaller --buffer)" : "");
		return err;
	}
	ring->map = map;
	ring->data = (const uint8_t *)map + page;
	return 0;
}

/* Of what a pattern fits, events that the kernel keeps from perf: its own, and ftrace's functions.
 */
static bool may_be_left_out(int err)
{
	return err == -EPERM || err == -EACCES || err == -EINVAL || err == -EOPNOTSUPP;
}

/* All events on one CPU; 0 too if there is no such CPU at the moment. */
static int open_on(
	struct chosen_rings *r, struct event_ring *ring, int tracefs, char *why, size_t size)
{
	int err;

	for (size_t i = 0; i < r->list->count; i++) {
		struct chosen_event *e = &r->list->event[i];
		int fd = e->status ? e->status : open_event(e, ring->cpu);

		if (fd == -ENODEV)
			return 0;
		if (fd < 0 && e->pattern && may_be_left_out(fd)) {
			e->status = fd;
			refused(e, fd, why, size);
			continue;
		}
		if (fd < 0)
			return refused(e, fd, why, size);
		ring->fd[i] = fd;
		err = set_filter(e, tracefs, fd, why, size);
		if (err)
			return err;
		if (!ring->map) {
			err = map_ring(r, ring, fd, why, size);
			ring->leader = fd;
		} else if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->leader) != 0) {
			err = refused(e, -errno, why, size);
		}
		if (err)
			return err;
	}
	return ring->map ? 0 : -EPERM; /* all of a pattern's were refused */
}

/* Records tell the kernel's number for the tracepoint. */
static int number_types(struct chosen_rings *r)
{
	const struct chosen_list *l = r->list;

	for (size_t i = 0; i < l->count; i++)
		if (l->event[i].format.id >= r->types)
			r->types = l->event[i].format.id + 1;
	r->event_of_type = calloc(r->types, sizeof(*r->event_of_type));
	if (!r->event_of_type)
		return -ENOMEM;
	for (size_t i = 0; i < l->count; i++)
		r->event_of_type[l->event[i].format.id] = (uint16_t)(i + 1);
	return 0;
}

int chosen_rings_open(struct chosen_rings **out, struct chosen_list *l, int tracefs,
	uint64_t ring_bytes, char *why, size_t size)
{
	struct chosen_rings *r = calloc(1, sizeof(*r));
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	int err = 0;

	if (!r)
		return -ENOMEM;
	*out = r;
	r->list = l;
	r->self = getpid();
	r->bytes = ring_bytes < page ? page : ring_bytes;
	snprintf(r->producer, sizeof(r->producer), "--event ring");
	r->cpus = libbpf_num_possible_cpus();
	if (r->cpus < 1)
		return -EINVAL;
	r->ring = calloc((size_t)r->cpus, sizeof(*r->ring));
	if (!r->ring || number_types(r))
		return -ENOMEM;
	for (int i = 0; i < r->cpus && !err; i++) {
		struct event_ring *ring = &r->ring[i];

		ring->cpu = i;
		ring->fd = malloc(l->count * sizeof(*ring->fd));
		if (!ring->fd)
			return -ENOMEM;
		memset(ring->fd, -1, l->count * sizeof(*ring->fd));
		err = open_on(r, ring, tracefs, why, size);
	}
	return err;
}

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

/* ---- emptying ---- */

/* A record, in one piece. */
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

	ring->taken++;
	if (s->raw_size < sizeof(*c) || c->type >= r->types)
		return 0;
	index = r->event_of_type[c->type];
	if (!index)
		return 0;
	ring->last_time = s->time;
	if (s->pid == (uint32_t)r->self && !(c->flags & FLAGS_INTERRUPT))
		return 0; /* the tracer's own doing */
	e = &r->list->event[index - 1];
	size = format_pack(&e->format, s->raw, s->raw_size, r->payload, sizeof(r->payload));
	/* perf has no process any more for the last steps of a thread that ends */
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

/* Nearly in order already. */
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

/* Everything up to `until`. Returns how full the ring was, in percent, or a negative errno. */
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
		if (!time) /* of no kind that tells one */
			time = last;
		err = enqueue(ring, n, time, tail);
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

/* Losses after which nothing was recorded: the kernel counts what it met, recorded or not. */
static int tell_trailing(struct chosen_rings *r, struct event_ring *ring)
{
	uint64_t met = 0, count;

	for (size_t i = 0; i < r->list->count; i++)
		if (ring->fd[i] >= 0 &&
			read(ring->fd[i], &count, sizeof(count)) == (ssize_t)sizeof(count))
			met += count;
	if (met <= ring->taken + ring->lost)
		return 0;
	return tell_lost(r, ring, met - ring->taken - ring->lost, mg_monotonic_ns());
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

void chosen_rings_free(struct chosen_rings *r)
{
	if (!r)
		return;
	for (int i = 0; r->ring && i < r->cpus; i++) {
		struct event_ring *ring = &r->ring[i];

		if (ring->map)
			munmap(ring->map, (size_t)sysconf(_SC_PAGESIZE) + r->bytes);
		for (size_t k = 0; ring->fd && k < r->list->count; k++)
			if (ring->fd[k] >= 0)
				close(ring->fd[k]);
		free(ring->fd);
		free(ring->queue);
	}
	free(r->ring);
	free(r->event_of_type);
	free(r);
}
