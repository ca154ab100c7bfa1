/* SPDX-License-Identifier: MIT */
/* The command line of magnet-kernel-tracer. */
#ifndef MAGNET_KERNEL_TRACER_RUN_TRACER_OPTIONS_H
#define MAGNET_KERNEL_TRACER_RUN_TRACER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "hooks/hook_choice.h"

struct tracer_options {
	struct hook_options hooks;
	const char *dir;          /* trace directory, made if missing */
	unsigned int drain_ms;    /* how often rings are emptied */
	bool with_app;            /* the recording has an application side too */
	const char *cgroup;       /* tasks of it, and what they start, NULL = none */
	const char *control_path; /* of the socket to be asked at, NULL = the usual */
	int control;              /* a parent to speak with, -1 = none */
	uint64_t max_bytes;       /* the recording ends when the trace has so many, 0 = never */
	uint64_t rotate_bytes, rotate_ns; /* a new part begins then, 0 = never */
	uint32_t keep;                    /* so many parts, 0 = all */
	uint64_t flight_bytes,
		flight_ns;           /* only so much is kept, in memory, 0 = no flight recorder */
	uint64_t trigger_latency_ns; /* dump when bytes wait longer, 0 = no trigger */
	bool trigger_retransmission, trigger_lost;
	unsigned int duration_s; /* 0 = until told to stop */
	char **event;            /* tracepoints chosen with --event, as written */
	int event_count;
	char **command; /* to run and to follow, NULL = none */
};

/* 0, 1 if all is done (help), or a negative errno after a line that says what is wrong. */
int tracer_options_parse(struct tracer_options *o, int argc, char **argv);

#endif
