/* SPDX-License-Identifier: MIT */
/*
 * The packets of a recording's sockets, and the calls that moved their bytes, kept in memory for
 * captures to be compared with: some 80 bytes a packet and 56 a call.
 */
#ifndef MAGNET_CORRELATE_CAPTURE_TRAFFIC_H
#define MAGNET_CORRELATE_CAPTURE_TRAFFIC_H

#include "capture/frame.h"
#include "core/contract.h"
#include "filter/filter.h"
#include "hash.h"

/* Where a packet was recorded. */
enum traffic_place {
	PLACE_QUEUE,  /* sent: it reached the device's queue */
	PLACE_DRIVER, /* sent: the driver was asked to transmit it */
	PLACE_DEVICE, /* received: the device delivered it */
	PLACE_IP,     /* received: IP handed it to its transport */
	PLACES
};

struct traffic_packet {
	uint64_t sock;   /* number of the socket, or of a request that became none */
	uint64_t sender; /* received message: the sending socket, if it is in the recording */
	uint64_t time_ns;
	uint64_t offset; /* of its first byte in the flow; FACT_NONE: not known */
	uint32_t seq, ack, len, ifindex;
	uint16_t headers, segs, gso_size, ip_id, frag;
	uint8_t tcp_flags, proto, icmp_type;
	uint8_t place; /* enum traffic_place */
	bool zero_window;
};

struct traffic_call {
	uint64_t sock, offset, bytes;
	uint64_t begin_ns, end_ns;
	uint32_t pid, tid;
	const char *program;
	uint16_t function; /* as in the fact */
	bool rx;
};

struct traffic_sock {
	uint64_t sock;
	struct frame_end local, remote;
	bool has_local, has_remote;
	bool one_remote; /* it exchanges with one far end only */
	bool opened, is_server;
	uint32_t isn, irs, netns, pid;
	uint64_t peer; /* the socket at the other end, 0: not in the recording */
	const char *program;
	UT_hash_handle hh;
};

struct traffic {
	struct core *core;
	const struct filter *filter;   /* NULL: all packets */
	bool packets_only;             /* no record at the queue and at IP is needed */
	struct traffic_packet *packet; /* in order of time */
	size_t packets, packets_room;
	struct traffic_call *call; /* by socket, direction and offset */
	size_t calls, calls_room;
	struct traffic_sock *socks;
	struct traffic_name *names; /* of programs */
	uint64_t elsewhere;         /* packets seen away from their socket's own way: left out */
	uint64_t unknown;           /* packets of sockets that the recording does not describe */
	uint64_t wall_clock_ns;     /* 0: not known */
	double time_error_ns;       /* of an interval between two CPUs */
	double join_error_ns;       /* of an interval between a call and a packet; NAN: not known */
};

/*
 * Call it before the core reads, with `filter` and `packets_only` set and all else 0. Without
 * memory the process ends (mg_memory_is_vital()).
 */
void traffic_listen(struct traffic *t, struct core *core);
/* Call it when all is read. */
void traffic_finish(struct traffic *t);
void traffic_free(struct traffic *t);

const struct traffic_sock *traffic_sock(const struct traffic *t, uint64_t sock);
/* Returns whether the packet was received by its socket. */
static inline bool traffic_is_rx(const struct traffic_packet *p)
{
	return p->place >= PLACE_DEVICE;
}
/* Returns whether the record is the one that stands for the packet. */
static inline bool traffic_is_packet(const struct traffic_packet *p)
{
	return p->place == PLACE_DRIVER || p->place == PLACE_DEVICE;
}
/*
 * Fills in the two ends of a packet as far as they are known; the rest is 0. Returns whether both
 * are known.
 */
bool traffic_ends(const struct traffic *t, const struct traffic_packet *p, struct frame *f);
/*
 * Returns the first call that moved some of the bytes [from, to) of a flow; `count` gets how many
 * calls follow each other there, itself included.
 */
const struct traffic_call *traffic_calls(
	const struct traffic *t, uint64_t sock, bool rx, uint64_t from, uint64_t to, size_t *count);

#endif
