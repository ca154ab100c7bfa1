/* SPDX-License-Identifier: MIT */
/* One recording, from begin to end: what its parts share. */
#ifndef MAGNET_KERNEL_TRACER_RUN_H
#define MAGNET_KERNEL_TRACER_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "chosen.h"
#include "clock_cpus.h"
#include "clock_reader.h"
#include "control.h"
#include "cpu_time.h"
#include "identity.h"
#include "process_limits.h"
#include "tracer.h"

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
	int pidfd; /* of --pid: with its process the recording ends */
	pid_t child;
	int child_status;
	/* these COMMAND gets as the tracer was given them */
	sigset_t mask;
	mode_t umask;
	struct mg_limits limits; /* as they were: COMMAND has them */
	void (*sigpipe)(int);
	void (*sigxfsz)(int);
	uint64_t next_look, next_release, stop_at;
	struct own_use use;
	struct control *socket; /* NULL = none */
	/* what each part begins with, beside the identities */
	struct mg_clock_sync last_sync;
	struct mg_clock_cpus *clock_cpus_told;
	int clock_cpus_count;
	int part_fd;               /* of its directory, if there are parts */
	uint32_t part, parts_gone; /* number of the present part; how many were deleted */
	uint64_t part_began_at, part_began_bytes;
	const char *dump_asked;  /* by whom, NULL = nobody */
	const char *why_stopped; /* NULL: as its parent, or the traced program's end, wants it */
	char signal_name[32];    /* what why_stopped names, if it is a signal */
	struct flight *flight;   /* NULL = all is written */
	struct identities identities; /* as they were last read */
	bool paused;
	bool stop;
};

/* ---- loop.c: what happens while it records ---- */

/* Until something says stop. Returns 0 or a negative errno. */
int run_loop(struct run *r);
/* Everything that was recorded reaches the trace, then one last clock reading and the end mark. */
int run_finish(struct run *r);
/* The comparison of the CPUs' counters is over. */
void run_end_clock_cpus(struct run *r);
uint64_t run_lost(const struct run *r);

/* ---- main.c ---- */

/* An outcome of attaching, new or changed: to the trace, and to whoever asks. `arg` is the run. */
void run_on_hook(void *arg, const struct hook_status *status);
/* An outcome as an event. */
struct mg_hook run_hook_event(const struct hook_status *status);
/* Attach and detach so that these layers are recorded. */
int run_set_layers(struct run *r, uint32_t layers);

/* ---- parent.c: speaking with whoever started the tracer ---- */

/* One line about what went wrong: to the parent if there is one, else to the user. Returns `err`.
 */
int run_fail(const struct run *r, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Where the recording stands, under a name. */
void parent_say(const struct run *r, const char *what);
/* Whatever the parent says, or its end, means stop. */
void parent_read(struct run *r);

#endif
