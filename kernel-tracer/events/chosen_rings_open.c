/* SPDX-License-Identifier: MIT */
/* Opens perf events of the chosen tracepoints on each CPU, and the CPU's ring. */
#define _GNU_SOURCE
#include "events/chosen_rings_open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "events/chosen_find.h"
#include "events/chosen_rings.h"
#include "events/tracefs.h"

#define FORMAT_LOST (1u << 4) /* PERF_FORMAT_LOST, since Linux 6.0 */

/*
 * Opens one event on one CPU. Some tracepoints count for more than one: sched_stat_runtime adds the
 * nanoseconds it reports. With the period in the sample each occurrence is recorded once; without,
 * as often as it counts.
 */
static int open_event(const struct chosen_event *e, int cpu, bool *counts_lost)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = e->format.id,
		.sample_period = 1,
		.sample_type =
			PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW,
		.read_format = FORMAT_LOST,
		.disabled = 1,
		.sample_id_all = 1, /* losses carry a time too */
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1, /* no wakeups: the tracer polls */
		.wakeup_watermark = UINT32_MAX,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	*counts_lost = fd >= 0 || errno != EINVAL;
	if (!*counts_lost) {
		attr.read_format = 0;
		fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
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

/*
 * Returns whether an event that a pattern chose may be left out: the kernel keeps some from perf,
 * such as its own and ftrace's function events.
 */
static bool may_be_left_out(int err)
{
	return err == -EPERM || err == -EACCES || err == -EINVAL || err == -EOPNOTSUPP;
}

/* Opens all events on one CPU. Returns 0 also if the CPU does not exist at the moment. */
static int open_on(
	struct chosen_rings *r, struct event_ring *ring, int tracefs, char *why, size_t size)
{
	int err;

	for (size_t i = 0; i < r->list->count; i++) {
		struct chosen_event *e = &r->list->event[i];
		int fd = e->status ? e->status : open_event(e, ring->cpu, &ring->counts_lost);

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
	return ring->map ? 0 : -EPERM; /* the kernel refused all events of a pattern */
}

/* Builds the index by the kernel's tracepoint numbers, which the records carry. */
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
