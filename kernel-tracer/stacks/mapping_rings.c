/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "stacks/mapping_rings.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#define RING_PAGES 64

struct ring {
	int fd; /* -1: the CPU is not there */
	struct perf_event_mmap_page *map;
};

struct mapping_rings {
	int cpus;
	size_t page;
	struct ring *ring;
	char record[UINT16_MAX + 1]; /* one that wraps */
};

/* Opens a CPU's event. Since 5.12 the kernel reports build IDs. */
static int open_event(int cpu)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1, /* no wakeups: the tracer polls */
		.wakeup_watermark = UINT32_MAX,
		.build_id = 1};
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0 && errno == EINVAL) {
		attr.build_id = 0;
		fd = (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	}
	return fd < 0 ? -errno : fd;
}

int mapping_rings_open(struct mapping_rings **out)
{
	struct mapping_rings *r = calloc(1, sizeof(*r));

	if (!r)
		return -ENOMEM;
	*out = r;
	r->page = (size_t)sysconf(_SC_PAGESIZE);
	r->cpus = libbpf_num_possible_cpus();
	r->ring = r->cpus > 0 ? calloc((size_t)r->cpus, sizeof(*r->ring)) : NULL;
	if (!r->ring)
		return -ENOMEM;
	for (int i = 0; i < r->cpus; i++)
		r->ring[i].fd = -1;
	for (int i = 0; i < r->cpus; i++) {
		struct ring *ring = &r->ring[i];
		int fd = open_event(i);
		void *map;

		if (fd == -ENODEV)
			continue;
		if (fd < 0)
			return fd;
		ring->fd = fd;
		map = mmap(NULL, (RING_PAGES + 1) * r->page, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			0);
		if (map == MAP_FAILED)
			return -errno;
		ring->map = map;
	}
	return 0;
}

/* Returns the record at a position in one piece; copies it if it wraps. */
static const struct perf_event_header *record_at(
	struct mapping_rings *r, const struct ring *ring, uint64_t at)
{
	size_t size = RING_PAGES * r->page, from = (size_t)at & (size - 1);
	const char *data = (const char *)ring->map + r->page;
	const struct perf_event_header *h = (const void *)(data + from);

	if (h->size <= size - from)
		return h;
	memcpy(r->record, h, size - from);
	memcpy(r->record + (size - from), data, h->size - (size - from));
	return (const void *)r->record;
}

void mapping_rings_pass(struct mapping_rings *r,
	void (*take)(void *arg, const struct perf_event_header *record), void *arg)
{
	for (int i = 0; r && r->ring && i < r->cpus; i++) {
		struct ring *ring = &r->ring[i];
		uint64_t head, tail;

		if (!ring->map)
			continue;
		head = __atomic_load_n(&ring->map->data_head, __ATOMIC_ACQUIRE);
		for (tail = ring->map->data_tail; tail != head;) {
			const struct perf_event_header *h = record_at(r, ring, tail);

			if (h->size < sizeof(*h)) /* nothing the kernel writes */
				break;
			take(arg, h);
			tail += h->size;
		}
		__atomic_store_n(&ring->map->data_tail, head, __ATOMIC_RELEASE);
	}
}

void mapping_rings_free(struct mapping_rings *r)
{
	if (!r)
		return;
	for (int i = 0; r->ring && i < r->cpus; i++) {
		if (r->ring[i].map)
			munmap(r->ring[i].map, (RING_PAGES + 1) * r->page);
		if (r->ring[i].fd >= 0)
			close(r->ring[i].fd);
	}
	free(r->ring);
	free(r);
}
