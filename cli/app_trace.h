/* SPDX-License-Identifier: MIT */
/* The trace of the application side, as the collector writes it. */
#ifndef MAGNET_CLI_APP_TRACE_H
#define MAGNET_CLI_APP_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "app_rings.h"
#include "callers.h"
#include "collector_parts.h"
#include "cpu_time.h"
#include "ctf.h"

#define APP_TRACE_FULL "it has reached --max-size"

struct app_trace {
	struct app_rings *rings;
	struct ctf_writer *writer;
	struct mg_clock_sync base, now; /* an old reading, for the counter's rate, and the last */
	double ns_per_cycle;
	uint64_t lost, unfinished, no_room, untimed, unserved, unreached, not_outer, events;
	char why_unserved[160];
	uint64_t lost_until; /* ns; when the rings were last read */
	uint64_t next_flush, next_clock;
	uint64_t flushed; /* events written when the trace was flushed last */
	struct callers callers;
	bool clock; /* whether clock readings are written */
	struct app_parts parts;
	uint64_t full_at; /* ns; when the trace reached --max-size, 0 = not yet */
	int error;        /* the first one, a negative errno; 0: none */
};

/* Reads the clock, and the counter's rate. */
void app_trace_read_clock(struct app_trace *w);
/* Writes the event that begins a part, which has calls from then on. */
void app_trace_begin(struct app_trace *w, uint64_t from_ns);
/* Writes the event that ends the trace. */
void app_trace_end(struct app_trace *w, const struct own_use *use);
/* Writes the last clock reading if readings are written and one is due, or if it is wanted `now`.
 */
void app_trace_put_clock(struct app_trace *w, bool now);
/*
 * Flushes the trace. If nothing was written since the last time, the event comes first that says
 * so; all calls up to `t` must have been written.
 */
void app_trace_flush(struct app_trace *w, uint64_t t);
/* Begins a new part or ends the trace if it is due; all calls up to `t` must have been written. */
void app_trace_look_at_bounds(struct app_trace *w, uint64_t t);
/* Returns functions that write calls, marks and losses. */
struct app_reader app_trace_reader(struct app_trace *w);

#endif
