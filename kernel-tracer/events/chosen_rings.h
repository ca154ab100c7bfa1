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
	int *fd;                          /* one perf descriptor per event, -1 = none */
	int leader;                       /* index of the event whose ring all others use */
	struct perf_event_mmap_page *map; /* NULL: no such CPU */
	const uint8_t *data;
	uint64_t tail;
	uint64_t taken, lost; /* occurrences read, by the kernel's count; losses reported */
	bool weighted;        /* whether some occurrences read count for more than one */
	bool counts_lost;     /* whether the kernel counts losses */
	uint64_t last_time;   /* time of the last occurrence written */
	struct queued *queue; /* occurrences of one pass, by time */
	size_t queue_size;
};

struct chosen_rings {
	struct chosen_list *list;
	struct ctf_writer *writer;
	struct event_ring *ring;
	int cpus;
	uint64_t bytes; /* size of one ring */
	uint64_t lost;
	uint16_t *event_of_type; /* index + 1 of the event, by the kernel's number */
	size_t types;
	pid_t self;
	char producer[32];
	_Alignas(8) uint8_t record[RECORD_MAX]; /* copy of a record that wraps in the ring */
	uint8_t payload[PAYLOAD_ROOM];
};

int chosen_rings_start(struct chosen_rings *r, struct ctf_writer *w);
/* Writes what is in the rings. Returns the fullest ring's fill in percent, or a negative errno. */
int chosen_rings_pass(struct chosen_rings *r);
/* Starts or stops recording occurrences. */
int chosen_rings_record(struct chosen_rings *r, bool on);
/* Stops recording for good, then writes everything still in the rings and the last losses. */
int chosen_rings_finish(struct chosen_rings *r);
uint64_t chosen_rings_lost(const struct chosen_rings *r);

#endif
