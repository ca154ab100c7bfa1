/* SPDX-License-Identifier: MIT */
/*
 * One file of a trace: packets, each within one page of the file.
 *
 * A process that is killed leaves a write() of many pages half done, but a page never: so the file
 * always consists of whole packets, and without that babeltrace2 refuses the trace. Only an event
 * that is longer than a page has a packet of several pages.
 */
#ifndef MAGNET_COMMON_CTF_STREAM_H
#define MAGNET_COMMON_CTF_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "ring.h"

#define CTF_PAGE   4096u /* no kernel writes in smaller steps */
#define CTF_BUFFER (256u * 1024)
#define CTF_ID_MAX                                                                    \
	256 /* counts are kept of ids below; those of all others together, as of id 0 \
	     */

struct ctf_packet_head {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t timestamp_begin, timestamp_end;
	uint64_t content_size, packet_size; /* bits */
	uint64_t packet_seq_num, events_discarded;
	int32_t cpu_id;
} __attribute__((packed));

struct ctf_stream {
	int fd, cpu;
	int which;     /* a CPU number of ctf.h */
	char name[32]; /* bytes in the file */
	/* pages of the file that are not complete in it yet, all but the first of them wholly */
	uint8_t *buffer;
	uint32_t from;   /* the file has what stands before this in the buffer */
	uint32_t packet; /* begin of the packet that is being filled */
	uint32_t used;   /* end of it so far; equal to its begin: there is none */
	uint32_t limit;  /* a slot finds room if it begins before this */
	uint32_t end;    /* the page's, or the last one's */
	uint64_t first_ts, last_ts;
	uint64_t seq, discarded, discarded_before, file_size;
	uint64_t count[CTF_ID_MAX]; /* events by id, */
	uint64_t given;             /* events that a sink got */
	uint64_t appended;          /* events of packets that were made part of it */
};

/* Gets finished packets. */
struct ctf_target {
	uint8_t uuid[16];
	char dir[4096];
	/* used instead of a file: `size` bytes that begin and end with a packet, in whole pages */
	int (*sink)(void *arg, int which, const uint8_t *packets, uint32_t size, uint64_t events);
	void *sink_arg;
	uint64_t bytes; /* written */
};

/* Makes room for an event of `size` bytes with its head. Returns 0 or a negative errno. */
int ctf_stream_make_room(struct ctf_stream *s, struct ctf_target *t, uint32_t size, uint64_t ts);
/* Closes the packet being filled, and writes all; with `fill` the page is made full. */
int ctf_stream_flush(struct ctf_stream *s, struct ctf_target *t, bool fill);
/* Appends packets that a sink was given. */
int ctf_stream_append(struct ctf_stream *s, struct ctf_target *t, uint8_t *packets, uint32_t size);
/* Returns the number of events so far, without appended ones. */
uint64_t ctf_stream_events(const struct ctf_stream *s);
/* Continues with another trace. */
void ctf_stream_next(struct ctf_stream *s);
void ctf_stream_free(struct ctf_stream *s);

#endif
