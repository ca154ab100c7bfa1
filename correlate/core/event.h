/* SPDX-License-Identifier: MIT */
/* A decoded event, as the core takes it: from a trace, a live source, or a test's literals. */
#ifndef MAGNET_CORRELATE_EVENT_H
#define MAGNET_CORRELATE_EVENT_H

#include <stdint.h>

#include "events.h"

/* one that is not in the table: a tracepoint the user chose */
struct mg_other {
	const char *name; /* lives as long as its reader */
	char *text;       /* its fields, NULL if nobody listens; the core frees it */
};

struct mg_event {
	uint64_t time_ns; /* CLOCK_MONOTONIC */
	uint64_t cycles;  /* the same on the cycle counter; set by the core */
	uint16_t id;      /* MG_EVENT_*, or MG_APP_BASE + MG_FN_* */
	int16_t cpu;      /* -1 not known */
	uint32_t tid, pid;
#define MG_EVENT_MEMBER(NAME, name) struct mg_##name name;
	union {
		MG_PAYLOADS(MG_EVENT_MEMBER)
		struct mg_other other;
	};
#undef MG_EVENT_MEMBER
};

/* in no trace under this number: any event with a struct mg_other */
#define MG_EVENT_other 127
/* recorded by BPF: the correlator keeps a bit for each */
#define MG_IS_RING(id) ((id) < 64)
#define MG_IS_APP(id)  ((id) >= MG_APP_BASE)
#define MG_IS_CALL(id) ((id) >= MG_APP_BASE && (id) != MG_EVENT_mark)

#endif
