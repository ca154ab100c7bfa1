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
#include "run/tracer_options.h"

struct run {
	struct tracer_options options;
	struct hooks hooks;
	char dir[32]; /* the trace's, by its descriptor: its name may not be found without
			 privileges */
	struct ctf_writer *writer;
	struct drain *drain;
	struct clock_reader *clock;
	struct clock_cpus *clock_cpus; /* while the CPUs' counters are compared */
	struct netns_hooks *netns;
	struct chosen *chosen;
	struct ring_buffer *new_netns;
	struct hook_status *hook; /* outcomes, for the parent */
	size_t hook_count;
	struct mg_calibration calibration;
	int signals;
	int pidfd; /* descriptor of the process of --pid, with which the recording ends */
	pid_t child;
	int child_status;
	/* COMMAND gets these back as the tracer was started */
	sigset_t mask;
	mode_t umask;
	struct mg_limits limits; /* limits from before, for COMMAND */
	void (*sigpipe)(int);
	void (*sigxfsz)(int);
	uint64_t next_look, next_release, stop_at;
	struct own_use use;
	struct control *socket; /* NULL = none */
	/* events at the begin of each part, beside the identities */
	struct mg_clock_sync last_sync;
	struct mg_clock_cpus *clock_cpus_told;
	int clock_cpus_count;
	int part_fd;               /* descriptor of its directory, if there are parts */
	uint32_t part, parts_gone; /* number of the present part; how many were deleted */
	uint64_t part_began_at, part_began_bytes;
	const char *dump_asked;  /* name of who asked for a dump, NULL = nobody */
	const char *why_stopped; /* NULL: as its parent, or the traced program's end, wants it */
	char signal_name[32];    /* text of why_stopped for a signal */
	struct flight *flight;   /* NULL = all is written */
	struct identities identities; /* identities as last read */
	bool paused;
	bool stop;
};

#endif
