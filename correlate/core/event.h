/* SPDX-License-Identifier: MIT */
/* A decoded event, as the core takes it: from a trace, a live source, or a test's literals. */
#ifndef MAGNET_CORRELATE_EVENT_H
#define MAGNET_CORRELATE_EVENT_H

#include <stdint.h>

#include "events.h"

struct mg_event {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t cycles;  /* the same on the cycle counter; set by the core */
	uint16_t id;      /* MG_EVENT_*, or MG_APP_BASE + MG_FN_* */
	int16_t cpu;      /* -1 not known */
	uint32_t tid, pid;
#define MG_EVENT_MEMBER(NAME, name) struct mg_##name name;
	union {
		MG_PAYLOADS(MG_EVENT_MEMBER)
	};
#undef MG_EVENT_MEMBER
};

/* recorded by BPF: the correlator keeps a bit for each */
#define MG_IS_RING(id) ((id) < 64)
#define MG_IS_APP(id)  ((id) >= MG_APP_BASE)
#define MG_IS_CALL(id) ((id) >= MG_APP_BASE && (id) != MG_EVENT_mark)

#endif
