/* SPDX-License-Identifier: MIT */
/* A decoded event, as the core takes it: from a trace, a live source, or a test's literals. */
#ifndef MAGNET_CORRELATE_EVENT_H
#define MAGNET_CORRELATE_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "events.h"

/* an event that is not in the table: a tracepoint the user chose */
struct mg_other {
	const char *name; /* lives as long as its reader */
	char *text;       /* its fields, NULL if nobody listens; the core frees it */
};

struct mg_event {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t cycles;  /* the same time on the cycle counter; set by the core */
	uint16_t id;      /* MG_EVENT_*, or MG_APP_BASE + MG_FN_* */
	int16_t cpu;      /* -1 not known */
	uint32_t tid, pid;
	uint32_t queued; /* bytes of it in the core's queue; set by the core */
#define MG_EVENT_MEMBER(NAME, name) struct mg_##name name;
	union {
		MG_PAYLOADS(MG_EVENT_MEMBER)
		struct mg_other other;
	};
#undef MG_EVENT_MEMBER
};

/* an id used in no trace: any event with a struct mg_other */
#define MG_EVENT_other 127
/* of the system, recorded on its CPU: such events may be in a struct mg_events */
#define MG_IS_RING(id) ((id) < MG_TRACER_BASE)
#define MG_IS_APP(id)  ((id) >= MG_APP_BASE)
#define MG_IS_CALL(id) ((id) >= MG_APP_BASE && (id) != MG_EVENT_mark)

/* Where a fragment begins in the payload of its IP datagram, bytes; 0 of a whole datagram. */
static inline uint32_t packet_at(const struct mg_packet *p)
{
	return (p->frag & MG_FRAG_AT) * 8u;
}

static inline bool packet_is_first_part(const struct mg_packet *p)
{
	return p->frag == MG_FRAG_MORE;
}

/* Whether it is a fragment after the first. */
static inline bool packet_is_later_part(const struct mg_packet *p)
{
	return p->frag & MG_FRAG_AT;
}

/* Bytes of the frames that carry it: each has the headers. */
static inline uint32_t packet_frame(const struct mg_packet *p)
{
	return p->len + p->headers * (p->segs ? p->segs : 1u);
}

/* Returns whether the payload is a struct mg_packet. */
static inline bool mg_is_packet(unsigned int id)
{
#define MG_PAYLOAD_NUMBER(NAME, name) MG_HAS_##NAME,
	enum { MG_PAYLOADS(MG_PAYLOAD_NUMBER) };
#undef MG_PAYLOAD_NUMBER
	switch (id) {
#define MG_PAYLOAD_IS_PACKET(id, name, NAME, ...) \
	case id:                                  \
		return MG_HAS_##NAME == MG_HAS_PACKET;
		MG_RING_EVENTS(MG_PAYLOAD_IS_PACKET)
#undef MG_PAYLOAD_IS_PACKET
	default:
		return false;
	}
}

#endif
