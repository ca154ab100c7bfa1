/* SPDX-License-Identifier: MIT */
/* The rings of chosen tracepoints: chosen_rings_open.c makes them, chosen_rings.c empties them. */
#ifndef MAGNET_KERNEL_TRACER_CHOSEN_RINGS_H
#define MAGNET_KERNEL_TRACER_CHOSEN_RINGS_H

#include <linux/perf_event.h>
#include <sys/types.h>

#include "ctf.h"
#include "events/chosen_find.h"

#define RECORD_MAX   65536
#define PAYLOAD_ROOM 65536

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
	uint64_t taken, lost; /* by the kernel's count, of occurrences read; told as lost */
	bool weighted;        /* of those read, some count for more than one */
	bool counts_lost;     /* the kernel does */
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

int chosen_rings_start(struct chosen_rings *r, struct ctf_writer *w);
/* Returns the fullest ring's fill in percent, or a negative errno. */
int chosen_rings_pass(struct chosen_rings *r);
/* Whether occurrences are recorded. */
int chosen_rings_record(struct chosen_rings *r, bool on);
/* No more occurrences; then everything that is still in the rings, and what was lost last. */
int chosen_rings_finish(struct chosen_rings *r);
uint64_t chosen_rings_lost(const struct chosen_rings *r);

#endif
