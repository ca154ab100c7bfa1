/* SPDX-License-Identifier: MIT */
/* The recording that magnet top makes: a `magnet record` of its own, in a directory of its own. */
#ifndef MAGNET_CLI_TOP_RECORDER_H
#define MAGNET_CLI_TOP_RECORDER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct top_recorder {
	char dir[PATH_MAX];  /* the recording */
	char base[PATH_MAX]; /* temporary directory with the output, and the recording if not kept
			      */
	pid_t pid;           /* 0: not started, or it has ended */
	bool is_kept;        /* the recording is where the user wants it */
	bool to_save;        /* it is moved out of the temporary directory at the end */
	bool was_killed;     /* once it has ended: by a signal */
	bool cannot_run;     /* once it has ended: as COMMAND cannot be run, which it has said */
	bool runs_command;
	bool has_failed;     /* once it has ended: not as asked to, which it has said */
	uint64_t stop_at_ns; /* time of the second request to end; 0: not asked to end */
};

struct top_recorder_options {
	const char *output;    /* directory for the recording; NULL: a temporary one */
	const char *pid;       /* list of processes; NULL: none */
	char **command;        /* NULL: none; without both, all processes are recorded */
	const char *layers;    /* of the kernel side; NULL: those of magnet record */
	uint64_t max_size;     /* bytes of each side; 0: half of what is free there */
	bool output_to_stderr; /* what COMMAND prints goes to stderr, not into a file */
};

/* Starts the recording. Returns -1 after a message. */
int top_recorder_start(struct top_recorder *r, const struct top_recorder_options *o);
/* Takes note if the recorder has ended. Call it after SIGCHLD. */
void top_recorder_look(struct top_recorder *r);
/*
 * Asks the recorder to end, which asks COMMAND; called again later, has it end even if COMMAND does
 * not.
 */
void top_recorder_stop(struct top_recorder *r, uint64_t now_ns);
/* Returns the CPU time of the recorders so far, ns; -1: not known. */
int64_t top_recorder_cpu_ns(const struct top_recorder *r);
/*
 * Once it has ended: prints what COMMAND and the recorder have printed, moves the recording to
 * where it is saved, and removes the temporary directory. Returns the exit status.
 */
int top_recorder_finish(struct top_recorder *r);

#endif
