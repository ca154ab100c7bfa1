/* SPDX-License-Identifier: MIT */
/*
 * The application side of a recording: a process that reads the rings programs write their calls
 * to, and writes them as a CTF trace. When its parent is gone it ends the trace in order.
 * Functions return 0 or a negative errno and log nothing; `why` holds what failed, in words.
 */
#ifndef MAGNET_CLI_COLLECTOR_H
#define MAGNET_CLI_COLLECTOR_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "callers.h"
#include "collector_parts.h"

struct collector {
	pid_t pid;
	int control;     /* socket to the process */
	char rings[192]; /* MAGNET_RINGS for the programs that are to be recorded */
	char why[256];
	char ended[64]; /* why it ended before it was told to; else "" */
};

struct collector_options {
	const char *dir;        /* trace directory to make */
	uint64_t buffer_bytes;  /* a thread, 0 = default */
	unsigned int drain_ms;  /* the longest time between two readings, 0 = default */
	bool clock;             /* put clock readings into the trace: there is no kernel side */
	const char *kernel_dir; /* the kernel side's trace directory, NULL = there is none */
	struct collector_bounds bounds;
	const struct mg_clock_sync *began; /* a reading when the recording began, NULL: none */
};

struct collector_result {
	uint64_t events;     /* calls in the trace */
	uint64_t discarded;  /* calls lost; of these: */
	uint64_t unfinished; /* their logging was cut short */
	uint64_t no_room;    /* their programs had no room for a ring */
	uint64_t untimed;    /* their programs had forbidden themselves the counter */
	uint64_t unserved;   /* programs that got no rings at all, each counted as 1 */
	uint64_t unreached;  /* programs that libmagnet.so is not loaded into, each counted as 1 */
	uint64_t not_outer;  /* calls with process numbers of a namespace, not found outside */
	uint64_t cpu_ns;     /* CPU time of the collector since it began */
	uint64_t setup_cpu_ns;               /* before that */
	uint64_t running_ns, running_cpu_ns; /* until it was told to end, and CPU time in that */
	char why_unserved[160]; /* the last of those programs got none; "-" if there is none */
	bool complete;          /* the whole trace was written */
	struct callers callers; /* the caller frees it by callers_free() */
};

/* Starts the process. Programs with `rings` in their environment are recorded from then on. */
int collector_start(struct collector *c, const struct collector_options *o);
/*
 * Stops the process after it has written everything, after the deadline by force. A second call
 * does nothing.
 */
int collector_stop(struct collector *c, struct collector_result *r, int timeout_ms);

#endif
