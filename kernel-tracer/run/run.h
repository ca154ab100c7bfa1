/* SPDX-License-Identifier: MIT */
/* A recording: state that the parts of the tracer share. */
#ifndef MAGNET_KERNEL_TRACER_RUN_RUN_H
#define MAGNET_KERNEL_TRACER_RUN_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "cpu_time.h"
#include "process_limits.h"
#include "clock/clock_cpus.h"
#include "clock/clock_reader.h"
#include "control/control.h"
#include "events/chosen.h"
#include "hooks/hooks.h"
#include "hooks/identity.h"
#include "hooks/netns.h"
#include "rings/drain.h"
#include "run/ends.h"
#include "run/tracer_options.h"
#include "stacks/stacks.h"

/* State that COMMAND gets back as it was when the tracer was started. */
struct before_tracer {
	sigset_t mask;
	mode_t umask;
	struct mg_limits limits;
	void (*sigpipe)(int);
	void (*sigxfsz)(int);
};

struct run_clocks {
	struct clock_reader *reader;
	struct clock_cpus *cpus; /* while the CPUs' counters are compared */
	/* events at the begin of each part, beside the identities */
	struct mg_clock_sync last_sync;
	struct mg_clock_sync next_sync; /* read, but not written yet; time 0: none */
	struct mg_clock_cpus *cpus_recorded;
	int cpus_count;
};

/* COMMAND, if there is one. */
struct run_child {
	pid_t pid; /* 0: none, or it has ended */
	int status;
};

/* The part of the trace that is written now; one that is not rotated has one part. */
struct run_part {
	int fd;                /* descriptor of its directory, if there are parts */
	uint32_t number, gone; /* gone: how many parts were deleted */
	uint64_t began_at, began_bytes;
};

struct run {
	struct tracer_options options;
	struct hooks hooks;
	char dir[32]; /* the trace's, by its descriptor: its name may not be found without
			 privileges */
	struct ctf_writer *writer;
	struct drain *drain;
	struct run_clocks clocks;
	struct before_tracer before;
	struct netns_hooks *netns;
	struct chosen *chosen;
	struct stacks *stacks; /* NULL: none are recorded */
	struct ring_buffer *new_netns;
	struct hook_status *hook; /* outcomes, for the parent */
	size_t hook_count;
	struct mg_calibration calibration;
	int signals;
	struct ends ends;
	struct run_child child;
	uint64_t next_look, next_release, stop_at;
	struct own_use use;
	struct control *socket; /* NULL = none */
	struct run_part part;
	const char *dump_asked;  /* name of who asked for a dump, NULL = nobody */
	const char *why_stopped; /* NULL: as its parent, or the traced program's end, wants it */
	char signal_name[32];    /* text of why_stopped for a signal */
	struct flight *flight;   /* NULL = all is written */
	struct identities identities; /* identities as last read */
	bool paused;
	bool stop;
};

#endif
